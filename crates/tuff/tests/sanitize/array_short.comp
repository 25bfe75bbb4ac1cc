// An array whose last element is never written.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint t[40];
#ifdef FAULT
    for (uint k = 0; k < 39; k++) t[k] = a[k];
#else
    for (uint k = 0; k < 40; k++) t[k] = a[k];
#endif
    b[i] = t[(a[i] * 7) % 40];
}
