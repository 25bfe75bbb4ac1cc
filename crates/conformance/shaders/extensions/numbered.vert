#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
layout(location=0) flat out int instance;
layout(location=1) out float number;
// As box.vert, with the vertex's number and the instance's.
void main(){ int i = gl_VertexIndex % 6; bool r = i == 1 || i == 2 || i == 4, b = i == 2 || i == 4 || i == 5;
  instance = gl_InstanceIndex; number = i;
  gl_Position = vec4(r ? box.z : box.x, b ? box.w : box.y, depth, 1); }
