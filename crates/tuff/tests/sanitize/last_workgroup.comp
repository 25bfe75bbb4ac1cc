// The last workgroup adds what the others summed: an atomic counter tells which is the last.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
shared uint last;
void main() {
    uint i = gl_LocalInvocationIndex, w = gl_WorkGroupID.x;
    if (i == 0) {
        b[w] = w + 1;
        memoryBarrierBuffer();
#ifdef FAULT
        last = w == gl_NumWorkGroups.x - 1 ? 1 : 0;
#else
        last = atomicAdd(c[0], 1) == gl_NumWorkGroups.x - 1 ? 1 : 0;
#endif
    }
    barrier();
    if (last == 1 && i == 0) {
        memoryBarrierBuffer();
        uint sum = 0;
        for (uint k = 0; k < gl_NumWorkGroups.x; k++) sum += b[k];
        c[1] = sum;
    }
}
