#version 450
#extension GL_EXT_multiview : require
layout(location=0) in vec4 c; layout(location=0) out vec4 o;
void main(){ o=vec4(c.rg,float(gl_ViewIndex)*0.25,c.a); }
