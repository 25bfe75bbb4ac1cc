#version 450
// Values by vertex and instance, captured in two buffers.
layout(xfb_buffer=0, xfb_stride=24) out;
layout(xfb_buffer=1, xfb_stride=8) out;
layout(location=0, xfb_buffer=0, xfb_offset=0) out vec3 a;
layout(location=1, xfb_buffer=1, xfb_offset=0) out uvec2 b;
layout(location=2, xfb_buffer=0, xfb_offset=16) out uvec2 c;
void main(){
  a=vec3(gl_VertexIndex, 0.5*gl_VertexIndex, -1);
  b=uvec2(gl_VertexIndex*gl_VertexIndex, gl_InstanceIndex);
  c=uvec2(gl_VertexIndex+100, 7);
  gl_Position=vec4(0,0,0,1); gl_PointSize=1;
}
