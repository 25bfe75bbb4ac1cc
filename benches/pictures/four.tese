#version 450
layout(triangles, equal_spacing, ccw) in;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void main(){
  vec3 t=gl_TessCoord;
  gl_Position=t.x*gl_in[0].gl_Position+t.y*gl_in[1].gl_Position+t.z*gl_in[2].gl_Position;
  oc=t.x*c[0]+t.y*c[1]+t.z*c[2];
}
