#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x; uint a=x[i]; vec4 v=unpackUnorm4x8(a)*2.0-0.5; uint k=i*8u;
 o[k]=packUnorm4x8(v); o[k+1u]=packSnorm4x8(v); o[k+2u]=packUnorm2x16(v.xy); o[k+3u]=packSnorm2x16(v.zw); o[k+4u]=packHalf2x16(v.xy*100.0);
 o[k+5u]=packUnorm4x8(unpackUnorm4x8(a)); o[k+6u]=floatBitsToUint(unpackHalf2x16(a&0x7bff7bffu).y); o[k+7u]=floatBitsToUint(unpackSnorm2x16(a).x);
}
