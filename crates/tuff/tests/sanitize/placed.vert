// Places come from a buffer.
#version 450
layout(location = 0) in vec4 place;
void main() { gl_Position = place; }
