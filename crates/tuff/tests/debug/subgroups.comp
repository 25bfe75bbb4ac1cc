#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect sum = 120
// expect before = 10
// expect mask = (65472, 0, 0, 0)
// expect other = 4
// expect odd = 64
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint sum = subgroupAdd(i);
    uint before = subgroupExclusiveAdd(i);
    uvec4 mask = subgroupBallot(i > 5u);
    uint other = subgroupShuffle(i, i ^ 1u);
    uint odd = 0u;
    if ((i & 1u) == 1u) {
        odd = subgroupAdd(i);
    }
    o.w[i] = sum + before;
    o.w[16 + i] = mask.x;
    o.w[32 + i] = other + odd;
}
