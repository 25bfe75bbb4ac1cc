#version 450
// The sides of a triangle: a strip of two by the first invocation, one by the other.
layout(triangles, invocations=2) in;
layout(line_strip, max_vertices=3) out;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void corner(int i){ gl_Position=gl_in[i].gl_Position; oc=c[i]; EmitVertex(); }
void main(){ if(gl_InvocationID==0){ corner(0); corner(1); corner(2); } else { corner(2); corner(0); } }
