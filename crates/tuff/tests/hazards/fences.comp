#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
// Copies words from one buffer to another; makes what others wrote visible before, and what it writes available after.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) nonprivate readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) nonprivate writeonly buffer To { uint to[]; };
layout(push_constant) uniform Push { uint first_from, first_to; };

void main()
{
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible);
    uint i = gl_GlobalInvocationID.x;
    to[first_to + i] = from[first_from + i];
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable);
}
