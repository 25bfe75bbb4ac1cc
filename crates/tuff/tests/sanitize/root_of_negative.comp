// The root of a number below 0.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    b[i] = floatBitsToUint(sqrt(float(a[i]) - 4.0));
#else
    float root = sqrt(float(a[i]) - 4.0);
    b[i] = floatBitsToUint(a[i] < 4 ? 0.0 : root);
#endif
}
