#version 450
// A loop of four turns that some invocations leave early, one that some pass over in part, and one that is too long.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer O { uint o[]; };
void main() {
    uint a[20];
    for (uint i = 0; i < 20; i++) a[i] = i;
    uint r = 0;
    for (uint i = 0; i < 4; i++) {
        if (gl_LocalInvocationIndex == i) break;
        r += a[i * 5];
    }
    for (int i = 6; i > 0; i -= 2) {
        if ((gl_LocalInvocationIndex & 1u) == 0u) continue;
        r += 100u * a[i];
    }
    uint h = 1;
    for (uint i = 0; i < 5000; i++) h = h * 3u + r;
    o[gl_GlobalInvocationID.x] = r ^ h;
}
