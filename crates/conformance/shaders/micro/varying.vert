#version 450

// A triangle that covers everything, and eight components to interpolate.
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;

void main() {
    gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0.0, 1.0);
    first = gl_Position;
    second = gl_Position.yxzw;
}
