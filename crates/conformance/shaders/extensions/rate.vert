#version 460
#extension GL_EXT_fragment_shading_rate : require
layout(push_constant) uniform P { vec4 box; vec4 colour; float depth; };
// A rectangle, as in box.vert; the depth is the primitive's rate.
void main(){ int i = gl_VertexIndex % 6; bool r = i == 1 || i == 2 || i == 4, b = i == 2 || i == 4 || i == 5;
  gl_Position = vec4(r ? box.z : box.x, b ? box.w : box.y, 0, 1); gl_PrimitiveShadingRateEXT = int(depth); }
