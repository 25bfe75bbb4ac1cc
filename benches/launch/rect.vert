#version 450
// Two triangles from one corner to the other.
layout(push_constant) uniform P { vec4 corners; };
void main(){ vec2 p=vec2(float(gl_VertexIndex%2),float((gl_VertexIndex+1)/3%2)); gl_Position=vec4(mix(corners.xy,corners.zw,p),0.5,1.0); }
