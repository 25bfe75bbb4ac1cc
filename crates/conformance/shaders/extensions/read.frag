#version 450
layout(input_attachment_index=0, binding=0) uniform subpassInput i;
layout(location=0) out vec4 o;
void main(){ o = subpassLoad(i); }
