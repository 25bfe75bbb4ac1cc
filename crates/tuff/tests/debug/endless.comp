#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = i;
    for (uint k = 0u; k < 1000000000u; k++) {
        x = x * 1664525u + k;
    }
    o.w[i] = x;
}
