// More invocations than elements.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
#ifndef FAULT
    if (g < b.length())
#endif
        b[g] = g;
}
