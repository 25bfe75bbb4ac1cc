#version 450
// A line with the colours of its neighbours.
layout(lines_adjacency) in;
layout(line_strip, max_vertices=2) out;
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void main(){ gl_Position=gl_in[1].gl_Position; oc=c[0]; EmitVertex(); gl_Position=gl_in[2].gl_Position; oc=c[3]; EmitVertex(); }
