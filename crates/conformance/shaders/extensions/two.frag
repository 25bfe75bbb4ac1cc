#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
layout(location=0) out vec4 o; layout(location=1) out vec4 p;
void main(){ o = colour; p = colour; }
