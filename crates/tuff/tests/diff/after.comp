#version 450
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = b[i];
    float y = sin(x) * x + 1.0;
    y = y * y * x;
    b[i] = y;
}
