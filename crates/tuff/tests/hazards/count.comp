#version 450
// Counts invocations.
layout(local_size_x = 32) in;
layout(set = 0, binding = 1) buffer Counter { uint counter; };

void main()
{
    atomicAdd(counter, 1u);
}
