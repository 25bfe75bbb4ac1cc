#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// Collatz: 27 takes 111 steps.
// expect n = 1
// expect steps = 111
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint n = i + 22u;
    uint steps = 0u;
    while (n != 1u) {
        if ((n & 1u) == 0u) {
            n /= 2u;
        } else {
            n = 3u * n + 1u;
        }
        steps++;
    }
    o.w[i] = steps;
}
