#version 450
layout(location = 0) out vec2 uv;
layout(location = 1) flat out float f;
void main()
{
    uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    f = 0.5;
    gl_Position = vec4(fma(uv, vec2(2.0), vec2(-1.0)), 0.0, 1.0);
}
