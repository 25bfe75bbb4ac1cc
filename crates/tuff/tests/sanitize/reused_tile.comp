// The next turn of a loop overwrites what others still read.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64];
void main() {
    uint i = gl_LocalInvocationIndex, sum = 0;
    for (uint k = 0; k < 4; k++) {
        s[i] = a[i + 64 * k];
        barrier();
        sum += s[63 - i];
#ifndef FAULT
        barrier();
#endif
    }
    b[i] = sum;
}
