// A counter of the workgroup that nothing sets to 0.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint n;
void main() {
    uint i = gl_LocalInvocationIndex;
#ifndef FAULT
    if (i == 0) n = 0;
    barrier();
#endif
    atomicAdd(n, 1);
    barrier();
    if (i == 0) b[0] = n;
}
