#version 450

// A vertex whose size takes long, and four components to interpolate.
layout(location = 0) in vec4 position;
layout(location = 0) out vec4 passed;

void main() {
    gl_Position = position;
    float x = position.x;
    for (int n = 0; n < 256; n++) {
        x = sqrt(abs(x) + 1.0);
    }
    gl_PointSize = max(1.0, x * 0.125);
    passed = sqrt(abs(position)) + floor(position * 3.0);
}
