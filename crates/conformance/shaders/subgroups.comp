#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=96) in;
void main(){
 uint i=gl_GlobalInvocationID.x; uint v=x[i]; uint k=i*24u; uint n=gl_SubgroupInvocationID;
 o[k]=gl_SubgroupSize; o[k+1u]=gl_SubgroupID; o[k+2u]=n;
 o[k+3u]=subgroupAdd(v); o[k+4u]=subgroupMin(v); o[k+5u]=subgroupMax(v); o[k+6u]=subgroupAnd(v); o[k+7u]=subgroupOr(v); o[k+8u]=subgroupXor(v);
 o[k+9u]=subgroupInclusiveAdd(v); o[k+10u]=subgroupExclusiveAdd(v);
 o[k+11u]=subgroupBallotBitCount(subgroupBallot((v&1u)==1u)); o[k+12u]=subgroupBroadcastFirst(v); o[k+13u]=subgroupShuffle(v,n^5u);
 o[k+14u]=subgroupShuffleXor(v,1u); o[k+15u]=subgroupClusteredAdd(v,4u); o[k+16u]=subgroupQuadSwapHorizontal(v);
 o[k+17u]=(subgroupAll((v&7u)!=9u)?1u:0u)|(subgroupAny((v&63u)==0u)?2u:0u)|(subgroupAllEqual(gl_WorkGroupID.x)?4u:0u);
 o[k+18u]=0u; if((v&1u)==1u) o[k+18u]=subgroupAdd(v)+(subgroupElect()?1u:0u);
 o[k+19u]=subgroupBroadcast(v,3u); o[k+20u]=uint(subgroupMax(int(v))); o[k+21u]=subgroupBallotExclusiveBitCount(subgroupBallot((v&2u)==2u));
 uint up=subgroupShuffleUp(v,1u); o[k+22u]=n>=1u?up:v; o[k+23u]=subgroupQuadBroadcast(v,2u);
}
