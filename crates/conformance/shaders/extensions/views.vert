#version 450
#extension GL_EXT_multiview : require
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
// As box.vert, a quarter of the target further right for each view.
void main(){ int i = gl_VertexIndex % 6; bool r = i == 1 || i == 2 || i == 4, b = i == 2 || i == 4 || i == 5;
  gl_Position = vec4((r ? box.z : box.x) + 0.5 * float(gl_ViewIndex), b ? box.w : box.y, depth, 1); }
