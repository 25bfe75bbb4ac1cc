#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_basic : require
layout(location=0) in vec4 c; layout(location=0) out vec4 o;
// What nobody has written, of private memory and of lanes that are not active.
void main(){
 float s[64]; int k=int(gl_FragCoord.x);
 float left=0.0, other=0.0;
 for(int i=0;i<64;i++) left+=abs(s[(i+k)&63]);
 if((k&1)==1){ float mine=c.x+1.0; other=subgroupQuadSwapHorizontal(mine)+subgroupShuffle(mine,gl_SubgroupInvocationID^1u); }
 o=vec4(left,other,0.0,1.0);
}
