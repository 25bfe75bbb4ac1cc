#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_quad : require
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=96) in;
shared uint s[512];
// What nobody has written, of memory and of lanes that are not active.
void main(){
 uint i=gl_GlobalInvocationID.x, l=gl_LocalInvocationIndex, k=i*8u; uint p[64];
 uint v=x[i];
 uint left=0u; for(uint n=0u;n<64u;n++) left|=p[(n+v)&63u];
 o[k]=left;
 left=0u; for(uint n=l;n<512u;n+=96u) left|=s[(n*7u)&511u];
 o[k+1u]=left;
 for(uint n=2u;n<8u;n++) o[k+n]=0u;
 if((gl_SubgroupInvocationID&1u)==1u){
  uint mine=v|1u; uvec2 both=uvec2(mine,~mine|1u);
  o[k+2u]=subgroupShuffle(mine,gl_SubgroupInvocationID^1u);
  o[k+3u]=subgroupShuffleXor(both,3u).y;
  o[k+4u]=subgroupShuffleUp(mine,1u);
  o[k+5u]=subgroupBroadcast(mine,4u);
  o[k+6u]=subgroupQuadSwapHorizontal(mine);
  o[k+7u]=subgroupQuadBroadcast(mine,2u);
 }
}
