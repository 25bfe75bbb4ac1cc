#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x; uint a=x[2u*i], b=x[2u*i+1u]; int s=int(a), t=int(b); uint n=b==0u?1u:b; int m=(t==0||t==-1)?3:t;
 uint k=i*28u; uint hi,lo,c,w; int shi,slo;
 o[k]=a+b; o[k+1u]=a-b; o[k+2u]=a*b; o[k+3u]=a/n; o[k+4u]=a%n; o[k+5u]=uint(s/m);
 o[k+6u]=uint(s-(s/m)*m); o[k+7u]=a<<(b&31u); o[k+8u]=a>>(b&31u); o[k+9u]=uint(s>>(b&31u));
 o[k+10u]=(a&b)^(a|~b); o[k+11u]=min(a,b); o[k+12u]=max(a,b); o[k+13u]=uint(min(s,t)); o[k+14u]=uint(max(s,t));
 o[k+15u]=uint(abs(s)); o[k+16u]=uint(sign(s)); o[k+17u]=uint(findLSB(a)); o[k+18u]=uint(findMSB(a)); o[k+19u]=uint(findMSB(s));
 o[k+20u]=uint(bitCount(a)); o[k+21u]=bitfieldReverse(a); o[k+22u]=bitfieldExtract(a,5,11); o[k+23u]=uint(bitfieldExtract(s,5,11));
 o[k+24u]=bitfieldInsert(a,b,7,13); umulExtended(a,b,hi,lo); o[k+25u]=hi^lo; o[k+26u]=uaddCarry(a,b,c)^c; imulExtended(s,t,shi,slo); w=usubBorrow(a,b,c);
 o[k+27u]=uint(shi)^w^c;
}
