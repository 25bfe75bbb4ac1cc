#version 450
// A triangle that covers more than the target.
layout(location = 0) out vec4 a;
layout(location = 1) out vec2 b;
layout(location = 2) flat out vec3 c;
void main()
{
    vec2 p = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    a = vec4(p, p.yx);
    b = p + 1.0;
    c = vec3(0.25, 0.5, 0.75);
    gl_Position = vec4(p, 0.5, 1.0);
}
