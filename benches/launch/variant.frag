#version 450
// One of as many shaders as there are values.
layout(constant_id=0) const float K=0.0;
layout(location=0) out vec4 o;
void main(){ vec2 p=gl_FragCoord.xy*K; o=vec4(sin(p.x)+K,cos(p.y)*K,fract(p.x*p.y+K),1.0); }
