#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=32) in;
shared vec4 a[39];
void main(){
 uint l=gl_LocalInvocationID.x, g=gl_WorkGroupID.x, far=x[g*32u];
 a[l]=vec4(g,l,1,2);
 barrier();
 a[l+far]=vec4(g,l,3,4);
 barrier();
 uint at=4u*(g*32u+l);
 vec4 p=a[l], q=a[l+far];
 o[at]=uint(p.x)<<16|uint(p.y); o[at+1u]=uint(q.x)<<16|uint(q.y); o[at+2u]=uint(q.w); o[at+3u]=uint(a[far+20u].z);
}
