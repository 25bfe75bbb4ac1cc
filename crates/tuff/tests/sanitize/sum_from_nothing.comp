// A sum that does not begin at 0.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    uint sum;
#else
    uint sum = 0;
#endif
    for (uint k = 0; k < i; k++) sum += a[k];
    b[i] = sum;
}
