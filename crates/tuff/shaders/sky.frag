#version 450
#extension GL_GOOGLE_include_directive : require
#include "sky.glsl"
layout(set=0,binding=0) uniform Frame { mat4 view; mat4 light; vec4 eye; vec4 sun; mat4 rays; };
layout(location=0) in vec2 at; layout(location=0) out vec4 o;
void main(){ vec3 d=normalize((rays*vec4(at,1.0,0.0)).xyz); vec3 c=sky(d,sun.xyz); c=c/(1.0+0.25*c); o=vec4(pow(clamp(c,0.0,1.0),vec3(1.0/2.2)),1.0); }
