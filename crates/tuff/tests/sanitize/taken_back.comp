// A word is written when the workgroup that reads it says that it has.
#version 450
#extension GL_KHR_memory_scope_semantics : enable
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex, w = gl_WorkGroupID.x, n = (w + 1) % gl_NumWorkGroups.x;
    if (i != 0) return;
    uint p = w ^ 1, r = a[p];
#ifdef FAULT
    atomicExchange(b[w], 5000u, gl_ScopeDevice, 0, 0);
#else
    atomicExchange(b[w], 5000u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
#endif
    if (atomicLoad(b[p], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 5000u) a[w] = r;
}
