#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x; float a=uintBitsToFloat(x[2u*i]), b=uintBitsToFloat(x[2u*i+1u]); uint k=i*24u;
 precise float sum=a+b, dif=a-b, mul=a*b;
 o[k]=floatBitsToUint(sum); o[k+1u]=floatBitsToUint(dif); o[k+2u]=floatBitsToUint(mul); o[k+3u]=floatBitsToUint(a/b);
 o[k+4u]=floatBitsToUint(floor(a)); o[k+5u]=floatBitsToUint(ceil(a)); o[k+6u]=floatBitsToUint(trunc(a)); o[k+7u]=floatBitsToUint(roundEven(a));
 o[k+8u]=floatBitsToUint(abs(a)); o[k+9u]=floatBitsToUint(sign(a)); o[k+10u]=floatBitsToUint(min(a,b)); o[k+11u]=floatBitsToUint(max(a,b));
 o[k+12u]=floatBitsToUint(clamp(a,-1.0,2.0)); o[k+13u]=floatBitsToUint(step(a,b)); o[k+14u]=floatBitsToUint(sqrt(abs(a))); o[k+15u]=floatBitsToUint(inversesqrt(abs(a)+0.5));
 o[k+16u]=uint(int(a)); o[k+17u]=uint(abs(a)); o[k+18u]=floatBitsToUint(float(int(x[2u*i]))); o[k+19u]=floatBitsToUint(float(x[2u*i]));
 o[k+20u]=(a<b?1u:0u)|(a<=b?2u:0u)|(a==b?4u:0u)|(a!=b?8u:0u)|(a>b?16u:0u)|(a>=b?32u:0u)|(isnan(a)?64u:0u)|(isinf(a)?128u:0u);
 o[k+21u]=floatBitsToUint(fract(a)); o[k+22u]=floatBitsToUint(-a); o[k+23u]=floatBitsToUint(mix(a,b,0.25));
}
