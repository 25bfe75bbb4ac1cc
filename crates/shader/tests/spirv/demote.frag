#version 460
// Helper lanes: derivatives go on after a demote, stores and atomics are of living lanes only.
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in float x;
layout(location = 1) flat in uint at;
layout(set = 0, binding = 0) buffer B { uint count; uint hits[]; };
layout(location = 0) out vec4 color;
layout(location = 1) out uvec3 flags;
void main() {
    flags.x = uint(gl_HelperInvocation);
    flags.y = uint(helperInvocationEXT());
    if (x > 5) demote;
    flags.z = uint(helperInvocationEXT());
    float y = x * x;
    color.x = dFdxFine(y);
    color.y = dFdyFine(y);
    color.z = fwidthCoarse(y);
    color.w = dFdyCoarse(y);
    hits[at] = 1;
    atomicAdd(count, 1);
}
