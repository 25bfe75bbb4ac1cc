#version 450
// Each triangle twice, by two invocations.
layout(triangles, invocations=2) in;
layout(triangle_strip, max_vertices=3) out;
void main(){ for(int i=0;i<3;i++){ gl_Position=gl_in[i].gl_Position; EmitVertex(); } }
