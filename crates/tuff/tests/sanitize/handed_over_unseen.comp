// The same, but read whether or not the flag was seen.
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
    atomicStore(b[w], 5000u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    n = (w + gl_NumWorkGroups.x / 2) % gl_NumWorkGroups.x;
    bool seen = atomicLoad(b[n], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 5000u;
#ifdef FAULT
    uint r = a[n];
    if (seen) c[w] = r;
#else
    if (seen) c[w] = a[n];
#endif
}
