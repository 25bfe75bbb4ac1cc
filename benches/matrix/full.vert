#version 450
// One triangle over the whole target; the layer's depth and number are pushed.
layout(push_constant) uniform Push { float scale, depth; };
layout(location = 0) out vec2 uv;
void main() {
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    uv = at * scale;
    gl_Position = vec4(at * 2.0 - 1.0, depth, 1.0);
}
