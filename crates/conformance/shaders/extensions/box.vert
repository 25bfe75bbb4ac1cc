#version 450
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
// A rectangle: left, top, right, bottom in clip space.
void main(){ int i = gl_VertexIndex % 6; bool r = i == 1 || i == 2 || i == 4, b = i == 2 || i == 4 || i == 5;
  gl_Position = vec4(r ? box.z : box.x, b ? box.w : box.y, depth, 1); }
