#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x; float a=uintBitsToFloat(x[2u*i]), b=uintBitsToFloat(x[2u*i+1u]); uint k=i*20u;
 float u=a*0.1; float p=abs(a)+0.001;
 float r[20]=float[20](sin(a),cos(a),tan(u),asin(clamp(u,-1.0,1.0)),acos(clamp(u,-1.0,1.0)),atan(a),atan(a,b),sinh(u),cosh(u),tanh(a),
  asinh(a),acosh(p+1.0),atanh(clamp(u*0.9,-0.9,0.9)),exp(u*8.0),log(p),exp2(u*10.0),log2(p),pow(p,b*0.5),length(vec3(a,b,1.0)),distance(vec2(a,b),vec2(b,1.0)));
 for(int j=0;j<20;j++) o[k+uint(j)]=floatBitsToUint(r[j]);
}
