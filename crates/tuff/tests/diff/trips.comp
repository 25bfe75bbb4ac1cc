#version 450
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer B { uint n; float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = 0.0;
    for (uint k = 0; k < n; k++) {
        x = x * b[k] + 1.0;
    }
    b[i] = x;
}
