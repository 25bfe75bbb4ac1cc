#version 450
// 64 counters go up by one.
layout(local_size_x=64) in;
layout(binding=0) buffer A { uint a[]; };
void main(){ a[gl_GlobalInvocationID.x]+=1u; }
