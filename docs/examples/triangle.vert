#version 450
// A triangle in the middle, without vertex buffers.
void main() {
    const vec2 corners[3] = vec2[](vec2(-0.6, -0.8), vec2(0.8, -0.2), vec2(-0.2, 0.8));
    gl_Position = vec4(corners[gl_VertexIndex], 0, 1);
}
