#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
layout(binding=0) uniform sampler3D t;
layout(location=0) out vec4 o;
void main(){ o = textureLod(t, colour.xyz, 0); }
