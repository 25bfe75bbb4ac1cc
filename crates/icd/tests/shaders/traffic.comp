#version 460
// 4 Mi words written from a table of 1 KiB, or changed where they are, or one word by all; or 24 KiB read three times by one
// workgroup.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer Table { uint table[256]; };
layout(set = 0, binding = 1) buffer Out { uint words[]; };
layout(push_constant) uniform Push { uint what; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (what == 0) {
        words[i] = table[i & 255];
    } else if (what == 1) {
        words[i] += 1;
    } else if (what == 2) {
        atomicAdd(words[0], 1);
    } else {
        uint sum = 0;
        for (uint k = 0; k < 72; k++) {
            sum += words[k % 24 * 256 + gl_LocalInvocationID.x];
        }
        words[i] = sum;
    }
}
