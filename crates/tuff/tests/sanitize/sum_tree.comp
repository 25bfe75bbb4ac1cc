// A sum by halves: every step needs a barrier.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = a[i];
    barrier();
    for (uint n = 32; n > 0; n /= 2) {
        if (i < n) s[i] += s[i + n];
#ifndef FAULT
        barrier();
#endif
    }
    if (i == 0) b[0] = s[0];
}
