#version 450
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = b[i];
    float y = x * x + 1.0;
    b[i] = y;
}
