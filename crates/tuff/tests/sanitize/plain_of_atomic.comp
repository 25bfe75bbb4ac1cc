// A plain read of what atomics still count.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint n;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) n = 0;
    barrier();
    if (i != 40) atomicAdd(n, 1);
#ifndef FAULT
    barrier();
#endif
    if (i == 40) b[0] = n;
}
