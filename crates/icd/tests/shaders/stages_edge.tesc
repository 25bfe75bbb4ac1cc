#version 450
// Inner levels that differ, one for the edge that is shared, others outside.
layout(vertices=3) out;
layout(push_constant) uniform P { float edge; vec2 inner; };
void main(){
  gl_out[gl_InvocationID].gl_Position=gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0]=1+inner[gl_PrimitiveID]; gl_TessLevelOuter[1]=2; gl_TessLevelOuter[2]=edge;
  gl_TessLevelInner[0]=inner[gl_PrimitiveID];
}
