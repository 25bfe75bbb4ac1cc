#version 450
layout(triangles, fractional_even_spacing, ccw) in;
// The edge that is shared is bent (little: no ring of triangles crosses the one within it): where the third coordinate is none, both patches compute the same.
void main(){
  vec3 t=gl_TessCoord;
  precise vec2 p=t.x*gl_in[0].gl_Position.xy+t.y*gl_in[1].gl_Position.xy;
  precise float away=t.x*t.y;
  precise vec2 bent=p+away*vec2(0.1,-0.1);
  precise vec2 q=bent+t.z*gl_in[2].gl_Position.xy;
  gl_Position=vec4(q, 0, 1);
}
