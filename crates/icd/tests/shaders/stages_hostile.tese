#version 450
layout(triangles, equal_spacing) in;
layout(push_constant) uniform P { int from; int count; };
void main(){ gl_Position=gl_in[from].gl_Position+gl_in[count].gl_Position+vec4(gl_TessCoord, 1); }
