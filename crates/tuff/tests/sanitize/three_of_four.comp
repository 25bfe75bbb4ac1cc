// A vector of which three components are written.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uvec4 v;
    v.xyz = uvec3(i, i + 1, i + 2);
#ifdef FAULT
    b[i] = v.w;
#else
    b[i] = v.z;
#endif
}
