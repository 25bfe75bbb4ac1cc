#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect x = 2.5
// expect y = 7.25
// expect z = 3.0
// expect w = 2.75
// expect t = -3.0
// expect u = 0.5
// expect n = inf
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = float(i) * 0.5;
    float y = x * x + 1.0;
    float z = sqrt(y + 1.75);
    float w = mix(x, z, 0.5);
    float t = floor(-x);
    float u = fract(x);
    float n = x / (u - 0.5);
    o.w[i] = floatBitsToUint(y);
    o.w[16 + i] = floatBitsToUint(z);
    o.w[32 + i] = floatBitsToUint(w);
    o.w[48 + i] = floatBitsToUint(t + u);
    o.w[64 + i] = floatBitsToUint(n);
}
