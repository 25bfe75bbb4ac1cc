// Two phases, of which only the first ends with a barrier.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64], t[64];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = a[i];
    barrier();
    t[i] = s[63 - i] + 1;
#ifndef FAULT
    barrier();
#endif
    b[i] = t[(i + 32) % 64];
}
