#version 450
// A triangle that covers everything.
void main()
{
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(at * 4.0 - 1.0, 0.5, 1.0);
}
