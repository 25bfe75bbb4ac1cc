#version 450
// One value that tells the vertex; all of them at a corner of a triangle that covers everything.
layout(xfb_buffer=0, xfb_stride=4) out;
layout(location=0, xfb_buffer=0, xfb_offset=0) out uint n;
void main(){
  n=gl_VertexIndex;
  gl_Position=vec4(gl_VertexIndex%3==1?3:-1, gl_VertexIndex%3==2?3:-1, 0, 1); gl_PointSize=1;
}
