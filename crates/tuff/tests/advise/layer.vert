// A layer over the whole target, without vertices: its depth is pushed.
#version 450
layout(push_constant) uniform Push { float depth; };
layout(location = 0) out vec2 uv;
void main() {
    uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    gl_Position = vec4(uv * 2.0 - 1.0, depth, 1.0);
}
