#version 450
layout(vertices=3) out;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc[];
void main(){
  gl_out[gl_InvocationID].gl_Position=gl_in[gl_InvocationID].gl_Position;
  oc[gl_InvocationID]=c[gl_InvocationID];
  if(gl_InvocationID==0){ gl_TessLevelOuter[0]=4; gl_TessLevelOuter[1]=4; gl_TessLevelOuter[2]=4; gl_TessLevelInner[0]=4; }
}
