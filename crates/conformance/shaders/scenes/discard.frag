#version 450
layout(location=0) in vec4 c; layout(location=0) out vec4 o;
void main(){ ivec2 cell=ivec2(gl_FragCoord.xy)/3; if(((cell.x+cell.y)&1)==1) discard; o=c; }
