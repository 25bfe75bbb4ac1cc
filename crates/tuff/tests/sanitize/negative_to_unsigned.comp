// A negative number becomes an unsigned one.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
#ifdef FAULT
    b[i] = uint(float(a[i]) - 5.0);
#else
    b[i] = uint(int(float(a[i]) - 5.0));
#endif
}
