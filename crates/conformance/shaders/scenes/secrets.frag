#version 450
layout(location=0) in vec4 c; layout(location=0) out vec4 o;
// Leaves numbers that are not 0 in private memory and registers.
void main(){ float s[64]; int k=int(gl_FragCoord.x); for(int i=0;i<64;i++) s[(i+k)&63]=c.x+float(i)+1.0; o=vec4(s[(k*7)&63]*0.5,1.0,1.0,1.0); }
