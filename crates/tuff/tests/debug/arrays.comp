#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect a = (0, 1, 4, 9, 16, -1, 36, 49)
// expect a[3] = 9
// expect sum = 114
void main() {
    uint i = gl_GlobalInvocationID.x;
    int a[8];
    for (int k = 0; k < 8; k++) {
        a[k] = k * k;
    }
    a[i & 7u] = -1;
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += a[k];
    }
    o.w[i] = uint(sum);
}
