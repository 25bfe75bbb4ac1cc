#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=0) buffer F { float f[]; };
layout(std430,set=0,binding=1) readonly buffer I { float x[]; };
layout(local_size_x=64) in;
shared float s[64];
void main(){
 uint i=gl_GlobalInvocationID.x, l=gl_LocalInvocationID.x, k=i*24u; float a=x[2u*i], b=x[2u*i+1u];
 o[k]=floatBitsToUint(a+b); f[k+1u]=a*b; f[k+2u]=a-b; f[k+3u]=a/b; f[k+4u]=fma(a,b,a); f[k+5u]=a*b+b;
 f[k+6u]=-(a+b); f[k+7u]=a<b?a*2.0:a; f[k+8u]=a;
 s[l]=b*b; barrier(); o[k+9u]=floatBitsToUint(s[l^1u]);
 f[k+10u]=b; atomicAdd(f[k+10u],a);
 o[k+11u]=floatBitsToUint(subgroupAdd(a)); o[k+12u]=floatBitsToUint(subgroupShuffleXor(a+b,1u));
 o[k+13u]=packHalf2x16(vec2(a+b,a));
 float16_t h=float16_t(a)+float16_t(b); o[k+14u]=uint(float16BitsToUint16(h));
 double d=double(a)+double(b); uvec2 w=unpackDouble2x32(d); o[k+15u]=w.x; o[k+16u]=w.y;
 int e; frexp(a,e); o[k+17u]=uint(e);
 float r=a; for(int n=0;n<int(l&3u);n++) r=r*b-a; f[k+18u]=r;
 float t[40]; for(int n=0;n<40;n++) t[n]=a*float(n+2); o[k+19u]=floatBitsToUint(t[l&31u]);
 int z=floatBitsToInt(a+b); o[k+20u]=uint(a<b?~z:z);
 f[k+21u]=sqrt(a); f[k+22u]=min(a,b)+floor(a); f[k+23u]=mix(a,b,0.25)+sin(a)+pow(a,b);
}
