// Half of the memory is written, all of it is read.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64];
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    if (i < 32) s[i] = i;
#else
    s[i] = i;
#endif
    barrier();
    b[i] = s[63 - i];
}
