#version 450
// A triangle with the colours of its neighbours.
layout(triangles_adjacency) in;
layout(triangle_strip, max_vertices=3) out;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void main(){ for(int i=0;i<3;i++){ gl_Position=gl_in[2*i].gl_Position; oc=c[2*i+1]; EmitVertex(); } }
