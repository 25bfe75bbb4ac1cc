#version 450
layout(location=0) in vec4 p; layout(location=1) in vec4 c;
layout(xfb_buffer=0, xfb_stride=32, xfb_offset=0) out gl_PerVertex { vec4 gl_Position; };
layout(xfb_buffer=0, xfb_offset=16, location=0) out vec4 oc;
void main(){ gl_Position=0.5*p; oc=c+1; }
