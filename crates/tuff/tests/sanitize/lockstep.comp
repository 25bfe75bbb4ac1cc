// A subgroup that counts on running in lockstep.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
#ifndef FAULT
    subgroupBarrier();
#endif
    b[i] = s[i ^ 1];
}
