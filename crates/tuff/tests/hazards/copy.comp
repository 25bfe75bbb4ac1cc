#version 450
// Copies words from one buffer to another.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Push { uint first_from, first_to; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    to[first_to + i] = from[first_from + i];
}
