#version 450
// Reads vertices that there are not, and emits more than it says.
layout(triangles) in;
layout(triangle_strip, max_vertices=4) out;
layout(push_constant) uniform P { int from; int count; };
void main(){ for(int i=0;i<count;i++){ gl_Position=gl_in[from+i].gl_Position; EmitVertex(); } }
