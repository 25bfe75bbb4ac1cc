#version 450
// Each triangle as four, by the middles of its sides: a strip of three, and one.
layout(triangles) in;
layout(triangle_strip, max_vertices=8) out;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void put(vec4 p, vec4 k){ gl_Position=p; oc=k; EmitVertex(); }
void corner(int i){ put(gl_in[i].gl_Position, c[i]); }
void middle(int i, int j){ put((gl_in[i].gl_Position+gl_in[j].gl_Position)*0.5, (c[i]+c[j])*0.5); }
void main(){
  corner(0); middle(0,1); middle(2,0); middle(1,2); corner(2); EndPrimitive();
  middle(0,1); corner(1); middle(1,2); EndPrimitive();
}
