#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_16bit_storage : require
// Accesses of 8, 16 and 2 bytes; multiply–adds of 64 bits; a multiplication and an addition of 16 bits.
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer D { double d[]; };
layout(std430, binding = 1) buffer V { vec4 v[]; };
layout(std430, binding = 2) buffer H { int16_t h[]; };
layout(std430, binding = 3) writeonly buffer W { vec4 w[]; };
void main()
{
    uint i = gl_LocalInvocationID.x;
    double x = d[i];
    x = fma(x, x, x); x = fma(x, x, x); x = fma(x, x, x);
    d[i] = x;
    w[i] = v[i];
    int16_t z = h[i];
    h[i] = z * z + int16_t(5);
}
