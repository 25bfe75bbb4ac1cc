#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect x = 20
// expect y = 205
// expect z = 2
void main() {
    uint i = gl_GlobalInvocationID.x;
    int x = 0;
    if ((i & 1u) == 0u) {
        x = 10;
    } else {
        x = 20;
    }
    int y = 0;
    switch (i & 3u) {
        case 0u: y = 100; break;
        case 1u: y = 200;
        case 2u: y += int(i); break;
        default: y = 400;
    }
    int z = 0;
    for (uint k = 0u; k < i; k++) {
        if (k == 3u) continue;
        if (k > 3u) break;
        z += k > 0u ? 1 : 0;
    }
    o.w[i] = uint(x + y);
    o.w[16 + i] = uint(z);
}
