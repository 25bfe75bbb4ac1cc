#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer A { uint8_t b[]; };
layout(std430,set=0,binding=2) readonly buffer B { uint16_t h[]; };
layout(local_size_x=64) in;
void main(){
 uint i=gl_GlobalInvocationID.x; uint k=i*7u;
 uint8_t p=b[2u*i], q=b[2u*i+1u]; int8_t s=int8_t(p), t=int8_t(q);
 o[k]=uint(uint8_t(p+q))|(uint(uint8_t(p*q))<<8)|(uint(uint8_t(s>>1))<<16)|(uint(uint8_t(max(s,t)))<<24);
 uint16_t u=h[2u*i], v=h[2u*i+1u]; int16_t y=int16_t(u);
 o[k+1u]=uint(uint16_t(u*v))|(uint(uint16_t(y/int16_t(7s)))<<16); o[k+2u]=uint(int(y))+uint(int(s));
 float16_t f=float16_t(float(u)*(1.0/4096.0)), g=float16_t(float(v)*(1.0/8192.0)+0.5);
 precise float16_t a=f+g, m=f*g; 
 o[k+3u]=packFloat2x16(f16vec2(a,m)); o[k+4u]=packFloat2x16(f16vec2(f,g)); o[k+5u]=packFloat2x16(f16vec2(max(f,g),floor(f))); o[k+6u]=(f<g?1u:0u)|(f==g?2u:0u);
}
