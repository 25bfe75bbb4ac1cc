#version 450

// One operation, n times, each on what the one before gave. The result is stored if it is one that it never is.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint what; uint n; };
layout(set = 0, binding = 0) buffer Words { uint words[]; };

#define EACH(op) for (uint i = 0; i < n; i++) { op; } break;

void main() {
    float x = float(gl_LocalInvocationIndex) + 0.5;
    uint u = gl_LocalInvocationIndex + 3;
    switch (what) {
    case 0: EACH(x = fma(x, 0.5, 1.0))
    case 1: EACH(x = x + 1.5)
    case 2: EACH(x = x * 1.5)
    case 3: EACH(x = floor(x))
    case 4: EACH(x = inversesqrt(x))
    case 5: EACH(x = sqrt(x))
    case 6: EACH(x = exp2(x))
    case 7: EACH(x = log2(x))
    case 8: EACH(x = sin(x))
    case 9: EACH(x = cos(x))
    case 10: EACH(x = tan(x))
    case 11: EACH(x = asin(x))
    case 12: EACH(x = acos(x))
    case 13: EACH(x = atan(x))
    case 14: EACH(x = sinh(x))
    case 15: EACH(x = tanh(x))
    case 16: EACH(x = exp(x))
    case 17: EACH(x = log(x))
    case 18: EACH(x = fract(x))
    case 19: EACH(x = ceil(x))
    case 20: EACH(x = trunc(x))
    case 21: EACH(u = bitfieldReverse(u))
    case 22: EACH(u = uint(bitCount(u)))
    case 23: EACH(u = uint(findMSB(u)))
    case 24: EACH(u = uint(findLSB(u)))
    case 25: EACH(x = asinh(x))
    case 26: EACH(x = acosh(x))
    default: EACH(x = atanh(x))
    }
    if (x == -1.25 && u == 0xfffffff0) {
        words[0] = 1;
    }
}
