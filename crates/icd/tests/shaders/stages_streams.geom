#version 450
// Each point to stream 0, and two of it to stream 1.
layout(points) in;
layout(points, max_vertices=3) out;
layout(location=0) in uint n[];
layout(stream=0, xfb_buffer=0, xfb_stride=4) out;
layout(stream=1, xfb_buffer=1, xfb_stride=8) out;
layout(stream=0, location=0, xfb_buffer=0, xfb_offset=0) out uint a;
layout(stream=1, location=1, xfb_buffer=1, xfb_offset=0) out uvec2 b;
void main(){
  gl_Position=vec4(0,0,0,1);
  a=n[0]+10; EmitStreamVertex(0); EndStreamPrimitive(0);
  for(uint i=0;i<2;i++){ b=uvec2(n[0],i); EmitStreamVertex(1); EndStreamPrimitive(1); }
}
