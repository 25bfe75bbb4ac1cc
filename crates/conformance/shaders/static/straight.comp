#version 450
// Eight multiply–adds whose addend is a push constant, between a load and a store.
layout(local_size_x = 16) in;
layout(push_constant) uniform P { float s; };
layout(std430, binding = 0) buffer Out { float result[]; };
layout(std430, binding = 1) readonly buffer A { float a[]; };
void main()
{
    uint i = gl_LocalInvocationID.x;
    float x = a[i];
    x = fma(x, x, s); x = fma(x, x, s); x = fma(x, x, s); x = fma(x, x, s);
    x = fma(x, x, s); x = fma(x, x, s); x = fma(x, x, s); x = fma(x, x, s);
    result[i] = x;
}
