// A counter in a buffer, with and without atomics.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
#ifdef FAULT
    a[0] += 1;
#else
    atomicAdd(a[0], 1);
#endif
}
