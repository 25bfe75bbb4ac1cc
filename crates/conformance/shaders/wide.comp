#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=8, local_size_y=16, local_size_z=8) in;
shared uint s[1024]; shared uint total;
void main(){
 uint l=gl_LocalInvocationIndex, g=gl_WorkGroupID.x; if(l==0u) total=0u; s[l]=x[g*1024u+l]; barrier();
 for(uint d=512u;d>0u;d>>=1){ if(l<d) s[l]=s[l]^s[l+d]; barrier(); }
 atomicAdd(total,x[g*1024u+l]&255u); barrier();
 o[g*1024u+l]=s[0]+total*l;
}
