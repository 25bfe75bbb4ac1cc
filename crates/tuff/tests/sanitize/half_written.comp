// A variable that only half of the invocations write.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex, x;
    if (i < 32) x = i;
#ifndef FAULT
    else x = 0;
#endif
    b[i] = x;
}
