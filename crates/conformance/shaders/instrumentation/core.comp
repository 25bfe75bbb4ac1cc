#version 450
#extension GL_ARM_shader_core_builtins : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Out { uint o[]; };
void main()
{
    if (gl_SubgroupInvocationID == 0) {
        uint at = (gl_WorkGroupID.x * 2 + gl_SubgroupID) * 5;
        o[at] = gl_CoreIDARM;
        o[at + 1] = gl_CoreCountARM;
        o[at + 2] = gl_CoreMaxIDARM;
        o[at + 3] = gl_WarpIDARM;
        o[at + 4] = gl_WarpMaxIDARM;
    }
}
