#version 450
#extension GL_EXT_fragment_shader_barycentric : require
layout(location=1) pervertexEXT in float number[3];
layout(location=0) out vec4 o;
void main(){ o = vec4((number[0] + 10 * number[1] + 50 * number[2]) / 255); }
