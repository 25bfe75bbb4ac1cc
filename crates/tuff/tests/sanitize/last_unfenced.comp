// The last workgroup adds what the others summed: without a fence, a counter orders nothing.
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex, w = gl_WorkGroupID.x;
    if (i != 0) return;
    b[w] = w + 1;
#ifndef FAULT
    memoryBarrierBuffer();
#endif
    if (atomicAdd(c[0], 1) != gl_NumWorkGroups.x - 1) return;
    memoryBarrierBuffer();
    uint sum = 0;
    for (uint k = 0; k < gl_NumWorkGroups.x; k++) sum += b[k];
    c[1] = sum;
}
