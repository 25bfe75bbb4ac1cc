#version 450
// Two patches that make a square, and share its diagonal from opposite ends.
void main(){
  const vec2 at[6]=vec2[](vec2(-1,-1), vec2(1,1), vec2(-1,1), vec2(1,1), vec2(-1,-1), vec2(1,-1));
  gl_Position=vec4(at[gl_VertexIndex], 0, 1);
}
