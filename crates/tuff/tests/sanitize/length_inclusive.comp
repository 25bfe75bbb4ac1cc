// A loop that ends after the length of the array.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
void main() {
    if (gl_GlobalInvocationID.x != 0) return;
    uint sum = 0;
#ifdef FAULT
    for (uint k = 0; k <= a.length(); k++) sum += a[k];
#else
    for (uint k = 0; k < a.length(); k++) sum += a[k];
#endif
    b[0] = sum;
}
