#version 450
// A triangle as it comes.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec2 uvs[];
layout(location = 0) out vec2 uv;
void main() {
    for (int i = 0; i < 3; i++) {
        uv = uvs[i];
        gl_Position = gl_in[i].gl_Position;
        EmitVertex();
    }
}
