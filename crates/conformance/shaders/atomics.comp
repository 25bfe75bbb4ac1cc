#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=100) in;
void main(){
 uint v=x[gl_GlobalInvocationID.x];
 atomicAdd(o[0],v); atomicMin(o[1],v); atomicMax(o[2],v); atomicAnd(o[3],v|0xff000000u); atomicOr(o[4],v&0x0f0f0f0fu); atomicXor(o[5],v);
 atomicMin(o[6],uint(-1)); uint c=atomicAdd(o[7],1u); atomicAdd(o[8],c); atomicExchange(o[9],77u);
 uint seen; uint old=o[10]; do { seen=old; old=atomicCompSwap(o[10],seen,seen+3u); } while(old!=seen);
 atomicAdd(o[16u+(v&15u)],1u);
}
