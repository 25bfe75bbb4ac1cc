#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(std430,set=0,binding=0) buffer O { uint64_t o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint64_t x[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x; uint64_t a=x[2u*i], b=x[2u*i+1u]|1ul; int64_t s=int64_t(a), t=int64_t(b>>1)+2l; uint k=i*14u;
 o[k]=a+b; o[k+1u]=a*b; o[k+2u]=a/b; o[k+3u]=a%b; o[k+4u]=uint64_t(s/t); o[k+5u]=a<<uint(b&63ul); o[k+6u]=uint64_t(s>>int(b&63ul)); o[k+7u]=(a<b?1ul:0ul)|(s<t?2ul:0ul);
 double d=double(s), e=double(t); precise double f=d*e+d, g=d/e, h=sqrt(abs(d));
 o[k+8u]=doubleBitsToUint64(f); o[k+9u]=doubleBitsToUint64(g); o[k+10u]=doubleBitsToUint64(h); o[k+11u]=uint64_t(float(d)>0.0?1:0); o[k+12u]=doubleBitsToUint64(floor(g)); o[k+13u]=uint64_t(int64_t(g*0.5LF));
}
