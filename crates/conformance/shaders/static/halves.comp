#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
// Vectors of 16 and 8 bits, and a product of 16 bits that is made one factor after the other.
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer H { f16vec4 h[]; };
layout(std430, binding = 1) buffer B { i8vec4 b[]; };
layout(std430, binding = 2) writeonly buffer P { float16_t p[]; };
void main()
{
    uint i = gl_LocalInvocationID.x;
    f16vec4 g = h[i];
    precise f16vec4 x = g * g + f16vec4(0.5);
    h[i] = x;
    b[i] = b[i] + i8vec4(3);
    precise float16_t y = x.x * x.y;
    y = y * x.z;
    p[i] = y * x.w;
}
