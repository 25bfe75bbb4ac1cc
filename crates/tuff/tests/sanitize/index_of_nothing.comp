// An index that is written if something is found.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    uint at;
#else
    uint at = 0;
#endif
    for (uint k = 0; k < 64; k++)
        if (a[k] == i + 8) at = k;
    b[i] = a[at];
}
