#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect a = 21474836480
// expect b = -5000000000
// expect c = 2.5
// expect d = -7
// expect e = 251
// expect f = 0.3125
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t a = uint64_t(i) << 32;
    int64_t b = int64_t(i) * -1000000000l;
    double c = double(i) / 2.0lf;
    int16_t d = int16_t(int(i) - 12);
    uint8_t e = uint8_t(i * 256u + 251u);
    float16_t f = float16_t(float(i)) / float16_t(16.0);
    o.w[i] = uint(a >> 32) + uint(b);
    o.w[16 + i] = uint(c * 2.0lf) + uint(d);
    o.w[32 + i] = uint(e);
    o.w[48 + i] = floatBitsToUint(float(f));
}
