#version 450
// The colour that the set has.
layout(binding=0) uniform C { vec4 colour; };
layout(location=0) out vec4 o;
void main(){ o=colour; }
