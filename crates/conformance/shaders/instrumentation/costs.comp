#version 450
// Blocks of known instructions: multiplications and additions that must not be fused, roots, integer logic.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { float result[]; };
layout(std430, binding = 1) readonly buffer A { float a[]; };
layout(std430, binding = 2) readonly buffer B { float b[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    precise float x = a[i];
    float y = b[i];
    uint u = i;
    if (y > 0.0) {
        x = x * y; x = x + 2.5; x = x * x; x = x - y;
    }
    if (y > 1.0) {
        x = inversesqrt(x);
    }
    if (y > 2.0) {
        u = u ^ floatBitsToUint(y); u = u + floatBitsToUint(x); u = u | floatBitsToUint(y);
    }
    result[i] = x + float(u);
}
