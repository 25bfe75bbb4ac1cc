#version 450
// Points at the corners of a line, the second one first.
layout(lines) in;
layout(points, max_vertices=2) out;
layout(push_constant) uniform P { float pointSize; };
layout(location=0) in vec4 c[];
layout(location=0) out vec4 oc;
void main(){ for(int i=1;i>=0;i--){ gl_Position=gl_in[i].gl_Position; gl_PointSize=pointSize; oc=c[i]; EmitVertex(); } }
