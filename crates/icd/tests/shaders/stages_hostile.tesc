#version 450
layout(vertices=3) out;
layout(push_constant) uniform P { int from; int count; float level; };
void main(){
  gl_out[gl_InvocationID].gl_Position=gl_in[gl_InvocationID+from].gl_Position;
  barrier();
  gl_out[gl_InvocationID].gl_Position+=gl_out[from+count].gl_Position;
  gl_TessLevelOuter[from&3]=level; gl_TessLevelOuter[0]=level; gl_TessLevelOuter[1]=level; gl_TessLevelOuter[2]=level;
  gl_TessLevelInner[0]=level;
}
