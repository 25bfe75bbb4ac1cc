#version 450
// The domain's middle column is moved.
layout(quads, equal_spacing) in;
void main()
{
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
    if (gl_TessCoord.x == 0.5)
        gl_Position.y *= sqrt(gl_TessCoord.y + 0.25);
}
