// A quotient whose divisor is 0 in some lanes, which the twin does not use.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex, by = i % 4;
    uint q = a[i] / by;
#ifdef FAULT
    b[i] = q;
#else
    b[i] = by == 0 ? 0 : q;
#endif
}
