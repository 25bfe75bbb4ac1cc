#version 450
layout(vertices=3) out;
layout(push_constant) uniform P { vec4 outer; vec2 inner; };
void main(){
  gl_out[gl_InvocationID].gl_Position=gl_in[gl_InvocationID].gl_Position;
  for(int i=0;i<4;i++) gl_TessLevelOuter[i]=outer[i];
  for(int i=0;i<2;i++) gl_TessLevelInner[i]=inner[i];
}
