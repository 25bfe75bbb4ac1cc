// The same with relaxed atomics and fences.
#version 450
#extension GL_KHR_memory_scope_semantics : enable
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex, w = gl_WorkGroupID.x, n = (w + 1) % gl_NumWorkGroups.x;
    if (i != 0) return;
    a[w] = w + 7;
    memoryBarrierBuffer();
    atomicExchange(b[w], 5000u);
    if (atomicAdd(b[n], 0u) != 5000u) return;
#ifndef FAULT
    memoryBarrierBuffer();
#endif
    c[w] = a[n];
}
