// A flag that only a match sets.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    bool found;
#else
    bool found = false;
#endif
    for (uint k = 0; k < 8; k++)
        if (a[i + k] == 40) found = true;
    if (found) b[i] = a[i] + 1;
}
