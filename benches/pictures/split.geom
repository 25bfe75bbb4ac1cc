#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices=8) out;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void put(vec4 p, vec4 k){ gl_Position=p; oc=k; EmitVertex(); }
// Four triangles of each, by the middles of its sides.
void main(){
  vec4 a=gl_in[0].gl_Position, b=gl_in[1].gl_Position, d=gl_in[2].gl_Position;
  vec4 ab=0.5*(a+b), bd=0.5*(b+d), da=0.5*(d+a);
  vec4 kab=0.5*(c[0]+c[1]), kbd=0.5*(c[1]+c[2]), kda=0.5*(c[2]+c[0]);
  put(a,c[0]); put(ab,kab); put(da,kda); put(bd,kbd); put(d,c[2]); EndPrimitive();
  put(ab,kab); put(b,c[1]); put(bd,kbd); EndPrimitive();
}
