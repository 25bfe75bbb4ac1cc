#version 460
void main() {
    gl_Position = vec4(gl_VertexIndex % 2 * 4 - 1, gl_VertexIndex / 2 * 4 - 1, 0, 1);
}
