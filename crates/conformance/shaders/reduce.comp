#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=256) in;
shared uint s[256];
void main(){
 uint l=gl_LocalInvocationID.x, g=gl_WorkGroupID.x; s[l]=x[g*256u+l]; barrier();
 for(uint d=1u;d<256u;d<<=1){ uint v=l>=d?s[l-d]:0u; barrier(); s[l]+=v; barrier(); }
 o[g*256u+l]=s[l];
}
