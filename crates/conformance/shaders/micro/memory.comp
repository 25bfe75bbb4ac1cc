#version 450

// Accesses of one shape, n times, in one of four stretches of 16 KiB after the other.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint what; uint n; uint size; };
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(set = 0, binding = 0) buffer Twos { uvec2 twos[]; };
layout(set = 0, binding = 0) buffer Fours { uvec4 fours[]; };
layout(set = 0, binding = 1) buffer Out { uint results[]; };

#define EACH(op) for (uint i = 0; i < n; i++) { uint at = (i & 3) * 4096; op; } break;

void main() {
    uint id = gl_LocalInvocationIndex;
    uint all = gl_GlobalInvocationID.x;
    uint sum = 0;
    switch (what) {
    case 0: EACH(sum += words[at + id])
    case 1: EACH(uvec2 v = twos[at / 2 + id]; sum += v.x ^ v.y)
    case 2: EACH(uvec4 v = fours[at / 4 + id]; sum += v.x ^ v.y ^ v.z ^ v.w)
    case 3: EACH(sum += words[at])
    case 4: EACH(sum += words[at + 2 * id])
    case 5: EACH(sum += words[at + 4 * id])
    case 6: EACH(sum += words[at + 16 * id])
    case 7: EACH(sum += words[at + 63 - id])
    case 8: EACH(words[at + id] = i)
    case 9: EACH(twos[at / 2 + id] = uvec2(i))
    case 10: EACH(fours[at / 4 + id] = uvec4(i))
    case 11: EACH(words[at + 2 * id] = i)
    case 12: EACH(words[at + 4 * id] = i)
    case 13: EACH(words[at + 16 * id] = i)
    case 14: EACH(words[at + 63 - id] = i)
    case 15: EACH(atomicAdd(words[at], 1))
    case 16: EACH(atomicAdd(words[at + id], 1))
    case 17: EACH(atomicAdd(words[at + 16 * id], 1))
    // A table, read from begin to end and again.
    case 18:
        for (uint i = 0; i < n; i++) {
            sum += words[(i % size) * 64 + id];
        }
        break;
    // A word of each, by all.
    case 19: sum = words[all]; break;
    case 20: results[all] = all; break;
    default: results[all] = words[all]; break;
    }
    if (sum == 0xfffffff1) {
        results[0] = 1;
    }
}
