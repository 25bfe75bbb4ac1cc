#version 450
// Each workgroup adds a number, and the sequence's in the upper half.
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint TIMES = 1;
layout(push_constant) uniform Push { uint at; uint value; uint sequence; };
layout(set = 0, binding = 0) buffer Words { uint words[]; };
void main() {
    atomicAdd(words[at], TIMES * value + (sequence << 16));
}
