// A prefix sum in place: reading and writing need a barrier between them.
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
    for (uint n = 1; n < 64; n *= 2) {
        uint more = i >= n ? s[i - n] : 0;
#ifndef FAULT
        barrier();
#endif
        s[i] += more;
        barrier();
    }
    b[i] = s[i];
}
