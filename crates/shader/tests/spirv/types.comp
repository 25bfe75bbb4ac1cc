#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer A { int8_t i8[64]; uint8_t u8[64]; int16_t i16[64]; uint16_t u16[64]; float16_t h[64];
    int64_t i64[64]; uint64_t u64[64]; double d[64]; float f[64]; int i[64]; uint u[64]; };
void main() {
    uint k = gl_LocalInvocationIndex;
    i8[k] = (i8[k] / int8_t(3)) % int8_t(5) - abs(i8[k]) + (i8[k] >> int8_t(1));
    u8[k] = max(u8[k] * uint8_t(7), uint8_t(3)) << uint8_t(2);
    i16[k] = min(i16[k], int16_t(h[k])) * int16_t(i8[k]);
    u16[k] = uint16_t(f[k]) ^ u16[k];
    h[k] = fma(h[k], float16_t(2.0), sqrt(h[k])) + float16_t(i64[k]);
    i64[k] = i64[k] * int64_t(i[k]) / (i64[k] | 1l) + int64_t(d[k]) >> 3;
    u64[k] = u64[k] % 10ul + uint64_t(h[k]) + packUint2x32(uvec2(u[k], 1u));
    d[k] = sqrt(d[k]) * double(u64[k]) + fract(d[k]) + double(f[k]);
    uint lo, hi; umulExtended(u[k], u[k + 1u], hi, lo);
    int slo, shi; imulExtended(i[k], i[k + 1u], shi, slo);
    uint carry; uint sum = uaddCarry(u[k], lo, carry);
    uint borrow; uint diff = usubBorrow(sum, hi, borrow);
    u[k] = diff + carry + borrow + bitfieldInsert(u[k], lo, 3, 7) + bitfieldExtract(lo, 2, 5) + bitfieldReverse(hi) + uint(bitCount(lo));
    i[k] = slo + shi + bitfieldExtract(i[k], 3, int(k & 7u)) + findLSB(i[k]) + findMSB(i[k]) + findMSB(u[k]);
    f[k] = float(i[k]) + float(u64[k]) + unpackHalf2x16(u[k]).y + uintBitsToFloat(u[k]) + float(float16_t(f[k]));
    u[k + 32u] = packHalf2x16(vec2(f[k], 1.0)) + packUnorm4x8(vec4(f[k])) + packSnorm2x16(vec2(f[k], 0.5)) + uint(u8[k]);
    i16vec2 p = i16vec2(i16[k], 3s); i[k + 32u] = pack32(p) + int(unpack8(u[k]).y);
}
