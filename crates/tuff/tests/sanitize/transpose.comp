// A tile is read by columns before it is whole.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64];
void main() {
    uint i = gl_LocalInvocationIndex, x = i % 8, y = i / 8;
    s[y * 8 + x] = a[i];
#ifndef FAULT
    barrier();
#endif
    b[i] = s[x * 8 + y];
}
