// A histogram with more classes than counters.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    atomicAdd(c[i * 17], 1);
#else
    atomicAdd(c[i * 16], 1);
#endif
}
