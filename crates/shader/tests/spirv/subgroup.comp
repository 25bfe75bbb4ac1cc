#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { uint a[]; };
void main() {
    uint k = gl_GlobalInvocationID.x;
    uint x = a[k];
    uvec4 b = subgroupBallot((x & 1u) == 0u);
    uint r = subgroupAdd(x) + subgroupInclusiveMax(x) + subgroupExclusiveXor(x) + subgroupClusteredMin(x, 4u);
    r += subgroupBallotBitCount(b) + subgroupBallotInclusiveBitCount(b) + subgroupBallotExclusiveBitCount(b) + subgroupBallotFindLSB(b) + subgroupBallotFindMSB(b);
    r += uint(subgroupInverseBallot(b)) + uint(subgroupBallotBitExtract(b, k & 31u));
    r += subgroupShuffle(x, 3u) + subgroupShuffleXor(x, 5u) + subgroupShuffleUp(x, 1u) + subgroupShuffleDown(x, 2u);
    r += subgroupQuadBroadcast(x, 1u) + subgroupQuadSwapHorizontal(x) + subgroupQuadSwapVertical(x) + subgroupQuadSwapDiagonal(x);
    r += subgroupBroadcast(x, 2u) + subgroupBroadcastFirst(x) + uint(subgroupElect()) + uint(subgroupAll(x > 3u)) + uint(subgroupAny(x > 9u)) + uint(subgroupAllEqual(x));
    r += uint(subgroupMin(int8_t(x))) + uint(subgroupExclusiveMax(int8_t(x))) + uint(subgroupMul(float16_t(x))) + uint(subgroupAnd(x > 4u));
    r += gl_SubgroupEqMask.x + gl_SubgroupGeMask.x + gl_SubgroupGtMask.x + gl_SubgroupLeMask.x + gl_SubgroupLtMask.x;
    r += gl_SubgroupID + gl_NumSubgroups + gl_SubgroupSize + gl_SubgroupInvocationID;
    a[k] = r;
}
