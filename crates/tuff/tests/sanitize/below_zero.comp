// The first element has no neighbour on the left.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
#ifdef FAULT
    b[g] = a[g - 1];
#else
    b[g] = g > 0 ? a[g - 1] : 0;
#endif
}
