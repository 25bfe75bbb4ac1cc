#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=96) in;
shared uint s[512];
// Leaves numbers that are not 0 in private, workgroup and register memory.
void main(){
 uint i=gl_GlobalInvocationID.x, l=gl_LocalInvocationIndex, v=x[i]|1u; uint p[64];
 for(uint k=0u;k<64u;k++) p[(k+i)&63u]=v+2u*k;
 for(uint k=l;k<512u;k+=96u) s[k]=v;
 barrier();
 o[i]=p[v&63u]|s[(l*5u)&511u]|1u;
}
