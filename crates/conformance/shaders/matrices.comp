#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=64) in;
struct Body { vec3 p; float m; mat3 r; };
void spin(inout Body b, in float s, out float e){ b.r=b.r*mat3(0.0,s,0.0,-s,0.0,0.0,0.0,0.0,1.0); b.p+=b.r[1]*b.m; e=dot(b.p,b.p); }
void main(){
 uint i=gl_GlobalInvocationID.x; float f[16]; for(int k=0;k<16;k++) f[k]=uintBitsToFloat(x[i*16u+uint(k)]);
 mat4 m=mat4(f[0],f[1],f[2],f[3],f[4],f[5],f[6],f[7],f[8],f[9],f[10],f[11],f[12],f[13],f[14],f[15]);
 vec4 v=m*vec4(1.0,2.0,3.0,4.0)+vec4(1.0,2.0,3.0,4.0)*m; mat4 q=transpose(m)*m; mat2 h=mat2(m);
 Body b=Body(v.xyz,f[3],mat3(m)); float e; spin(b,0.5,e);
 vec3 c=cross(b.p,v.wzy); float w=determinant(mat3(m));
 float r[12]=float[12](v.x,v.y,v.z,v.w,q[1][2],q[3][3],h[1][0],e,c.x,c.y,w,outerProduct(v.xy,c.yz)[1][0]);
 for(int k=0;k<12;k++) o[i*12u+uint(k)]=floatBitsToUint(r[k]);
}
