#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
layout(constant_id = 3) const int N = 4;
const int M = N * 2 + 1;
const vec3 table[2] = vec3[](vec3(1, 2, 3), vec3(4, 5, 6));
// expect m = 9
// expect v = (4.0, 5.0, 6.0)
// expect k = 45
void main() {
    uint i = gl_GlobalInvocationID.x;
    int m = M;
    vec3 v = table[i & 1u];
    int k = m * int(i);
    o.w[i] = uint(k);
    o.w[16 + i] = floatBitsToUint(v.y);
}
