#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// Lanes go in their order.
// expect old = 15
// expect top = 9
// expect was = 15
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint old = atomicAdd(o.w[100], 3u);
    uint top = atomicMax(o.w[101], i < 5u ? 9u : i);
    uint was = atomicCompSwap(o.w[102], old, old + 3u);
    o.w[i] = old;
}
