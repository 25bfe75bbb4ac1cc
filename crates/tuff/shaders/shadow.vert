#version 450
layout(set=0,binding=0) uniform Frame { mat4 view; mat4 light; vec4 eye; vec4 sun; };
layout(location=0) in vec3 at;
void main(){ gl_Position=light*vec4(at,1.0); }
