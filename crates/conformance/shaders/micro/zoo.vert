#version 450

// A vertex, and four components to interpolate.
layout(location = 0) in vec4 position;
layout(location = 0) out vec4 passed;

void main() {
    gl_Position = position;
    gl_PointSize = 1.0;
    passed = sqrt(abs(position)) + floor(position * 3.0);
}
