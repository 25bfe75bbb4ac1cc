#version 450
layout(quads, equal_spacing, ccw) in;
void main(){ gl_Position=vec4(gl_TessCoord.xy*2-1, 0, 1); }
