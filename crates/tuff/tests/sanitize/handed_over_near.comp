// The same, with the scope of a workgroup.
#version 450
#extension GL_KHR_memory_scope_semantics : enable
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex, w = gl_WorkGroupID.x, n = (w + 1) % gl_NumWorkGroups.x;
    if (i != 0) return;
#ifdef FAULT
    const int scope = gl_ScopeWorkgroup;
#else
    const int scope = gl_ScopeDevice;
#endif
    a[w] = w + 7;
    atomicStore(b[w], 5000u, scope, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    if (atomicLoad(b[n], scope, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 5000u) c[w] = a[n];
}
