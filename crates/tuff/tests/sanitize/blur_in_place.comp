// Each element becomes the mean of its neighbours, in place or in another buffer.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    uint left = a[max(g, 1) - 1], right = a[min(g + 1, 255)];
    barrier();
#ifdef FAULT
    a[g] = (left + right) / 2;
#else
    b[g] = (left + right) / 2;
#endif
}
