#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect r = (8.0, 14.0)
// expect n = ((1.0, 3.0), (2.0, 4.0))
// expect m = ((1.0, 2.0), (8.0, 4.0))
// expect m[1].x = 8.0
// expect d = -12.0
void main() {
    uint i = gl_GlobalInvocationID.x;
    mat2 m = mat2(1, 2, 3, 4);
    vec2 r = m * vec2(i, 1);
    mat2 n = transpose(m);
    m[1][0] = r.x;
    float d = determinant(m);
    o.w[i] = floatBitsToUint(r.x);
    o.w[16 + i] = floatBitsToUint(n[0][1]);
    o.w[32 + i] = floatBitsToUint(d);
}
