#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x;
 uint far=x[i+100000u]+x[0x3fffffffu-i]+x[(i&1u)==0u?i:i+0x10000000u];
 o[i]=far+1u; o[i+100000u]=5u; o[0x3ffffff0u-i]=6u;
}
