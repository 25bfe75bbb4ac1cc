// Two invocations write different values to one word.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint s[64];
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    s[i / 2] = i;
#else
    s[i] = i;
#endif
    barrier();
    b[i] = s[i / 2];
}
