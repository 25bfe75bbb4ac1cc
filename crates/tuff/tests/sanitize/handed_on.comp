// A word goes on from workgroup to workgroup; flags are counters that all add to.
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
    atomicAdd(b[0], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    atomicAdd(b[0], 1u, gl_ScopeDevice, 0, 0);
#ifdef FAULT
    atomicStore(b[0], 5000u, gl_ScopeDevice, 0, 0);
#endif
    atomicAdd(b[0], 0u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
    if (w == gl_NumWorkGroups.x - 1) c[w] = a[0];
}
