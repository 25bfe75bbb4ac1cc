#version 450
// A side with a store, a reciprocal root and four multiply–adds, and a side with one multiply–add.
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer Out { float result[]; };
layout(std430, binding = 1) readonly buffer A { float a[]; };
layout(std430, binding = 2) buffer B { float b[]; };
void main()
{
    uint i = gl_LocalInvocationID.x;
    float x = a[i];
    if (x > 0.0) {
        x = fma(x, x, x); x = fma(x, x, x); x = fma(x, x, x); x = fma(x, x, x);
        b[i] = inversesqrt(x);
    } else {
        x = fma(x, x, x);
    }
    result[i] = x;
}
