#version 450
// A parallelogram of a corner and its two neighbours.
layout(quads, equal_spacing, ccw) in;
layout(push_constant) uniform P { float pointSize; };
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void main(){
  vec2 t=gl_TessCoord.xy;
  gl_Position=gl_in[0].gl_Position+t.x*(gl_in[1].gl_Position-gl_in[0].gl_Position)+t.y*(gl_in[2].gl_Position-gl_in[0].gl_Position);
  gl_PointSize=pointSize;
  oc=c[0]+t.x*(c[1]-c[0])+t.y*(c[2]-c[0]);
}
