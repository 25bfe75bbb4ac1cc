// Vectors that overlap by one component.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[256];
void put(uint at, uvec2 v) { s[at] = v.x; s[at + 1] = v.y; }
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    put(i, uvec2(i, i + 100));
#else
    put(2 * i, uvec2(i, i + 100));
#endif
    barrier();
    b[i] = s[i];
}
