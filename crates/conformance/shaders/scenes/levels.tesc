#version 450
// Patches of three corners, with the levels that were pushed.
layout(vertices=3) out;
layout(push_constant) uniform P { layout(offset=16) vec4 outer; vec2 inner; };
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc[];
void main(){
  gl_out[gl_InvocationID].gl_Position=gl_in[gl_InvocationID].gl_Position;
  oc[gl_InvocationID]=c[gl_InvocationID];
  if(gl_InvocationID==0){
    for(int i=0;i<4;i++) gl_TessLevelOuter[i]=outer[i];
    for(int i=0;i<2;i++) gl_TessLevelInner[i]=inner[i];
  }
}
