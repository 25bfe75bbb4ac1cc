#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
layout(binding=0) uniform sampler2D t;
layout(location=0) out vec4 o;
// Everywhere the sample at the colour's first two numbers, of the level that the third says.
void main(){ o = textureLod(t, colour.xy, colour.z); }
