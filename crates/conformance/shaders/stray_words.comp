#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=20) in;
shared uint c[25];
void main(){
 uint l=gl_LocalInvocationID.x, g=gl_WorkGroupID.x, far=x[g*20u];
 c[l]=g*100u+l;
 if(l<5u) c[l+20u]=g;
 barrier();
 uint old=atomicAdd(c[l+far],7u);
 if(l==3u) c[far+19u]=g+1u;
 barrier();
 uint at=4u*(g*20u+l);
 o[at]=c[l]; o[at+1u]=old; o[at+2u]=c[l+far]; o[at+3u]=c[far+19u]+atomicMax(c[far+15u],5u);
}
