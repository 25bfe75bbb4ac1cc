#version 450
// Colours from a buffer.
layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(location = 0) out vec4 color;

void main()
{
    color = unpackUnorm4x8(from[uint(gl_FragCoord.x)]);
}
