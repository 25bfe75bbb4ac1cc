#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
layout(location=0) out vec4 o;
void main(){ o = colour; }
