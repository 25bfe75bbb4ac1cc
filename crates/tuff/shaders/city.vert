#version 450
layout(set=0,binding=0) uniform Frame { mat4 view; mat4 light; vec4 eye; vec4 sun; };
layout(location=0) in vec3 at; layout(location=1) in vec3 normal; layout(location=2) in vec3 uvm; layout(location=3) in vec4 tint;
layout(location=0) out vec3 world; layout(location=1) out vec3 facing; layout(location=2) out vec3 surface; layout(location=3) out vec3 colour;
void main(){ world=at; facing=normal; surface=uvm; colour=tint.rgb; gl_Position=view*vec4(at,1.0); }
