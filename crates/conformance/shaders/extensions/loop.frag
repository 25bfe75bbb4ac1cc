#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
layout(binding=0) uniform sampler2D t;
layout(location=0) out vec4 o;
// What lies there as an image, and the colour.
void main(){ o = vec4(texelFetch(t, ivec2(gl_FragCoord.xy), 0).r) + colour; }
