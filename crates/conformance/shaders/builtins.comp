#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=3, local_size_y=5, local_size_z=7) in;
layout(push_constant) uniform P { uint scale; uint offset; };
layout(constant_id=3) const uint extra=7u;
void main(){
 uvec3 g=gl_GlobalInvocationID; uvec3 n=gl_NumWorkGroups*gl_WorkGroupSize; uint i=(g.z*n.y+g.y)*n.x+g.x;
 uvec3 w=gl_WorkGroupID; uvec3 l=gl_LocalInvocationID;
 o[i]=(gl_LocalInvocationIndex+1000u*(w.x+10u*(w.y+10u*w.z)))*scale+offset+extra+(l.x+3u*(l.y+5u*l.z)-gl_LocalInvocationIndex)+x[i];
}
