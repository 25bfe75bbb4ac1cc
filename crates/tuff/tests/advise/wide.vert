// Many outputs of full precision, or of half.
#version 450
#ifdef HALF
#define P mediump
#else
#define P highp
#endif
layout(location = 0) out P vec4 a[8];
void main() {
    vec2 uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    a[0] = vec4(uv, uv.yx) * 1.0;
    a[1] = vec4(uv, uv.yx) * 2.0;
    a[2] = vec4(uv, uv.yx) * 3.0;
    a[3] = vec4(uv, uv.yx) * 4.0;
    a[4] = vec4(uv, uv.yx) * 5.0;
    a[5] = vec4(uv, uv.yx) * 6.0;
    a[6] = vec4(uv, uv.yx) * 7.0;
    a[7] = vec4(uv, uv.yx) * 8.0;
    gl_Position = vec4(uv * 2.0 - 1.0, 0.5, 1.0);
}
