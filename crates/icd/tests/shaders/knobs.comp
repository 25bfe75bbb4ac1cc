#version 450

// n times, one after the other: a multiplication, a square root, a filtered sample of one place, a line read, a texel fetched, a
// barrier, an atomic on one word that all threads share, a filtered sample of medium precision. Of
// each warp its own lines and texels, 6 KiB or 24 KiB in all, again and again. The result is stored if it is one that it never is.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint what; uint n; };
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(set = 0, binding = 1) uniform sampler2D texels;
layout(set = 0, binding = 1) uniform mediump sampler2D medium;

void main() {
    uint id = gl_LocalInvocationIndex;
    float x = float(id);
    uint sum = 0;
#ifdef WIDE
    // What is needed behind the loop takes more than 32 registers.
    float kept[40];
    for (int k = 0; k < 40; k++) {
        kept[k] = float(words[k * 64 + id]);
    }
#endif
    if (what == 0) {
        for (uint i = 0; i < n; i++) {
            x = fma(x, 0.5, 1.0);
        }
    } else if (what == 1) {
        for (uint i = 0; i < n; i++) {
            x = inversesqrt(x);
        }
    } else if (what == 2) {
        for (uint i = 0; i < n; i++) {
            x = textureLod(texels, vec2(x * 0.0, 0.5), 0.0).x;
        }
    } else if (what == 3) {
        for (uint i = 0; i < n; i++) {
            sum += words[i % 96 * 64 + id];
        }
    } else if (what == 4) {
        for (uint i = 0; i < n; i++) {
            x += texelFetch(texels, ivec2(i % 24 * 64 + id, 0), 0).x;
        }
    } else if (what == 5) {
        for (uint i = 0; i < n; i++) {
            barrier();
        }
    } else if (what == 6) {
        for (uint i = 0; i < n; i++) {
            atomicOr(words[0], 0);
        }
    } else {
        for (uint i = 0; i < n; i++) {
            x = textureLod(medium, vec2(x * 0.0, 0.5), 0.0).x;
        }
    }
#ifdef WIDE
    for (int k = 0; k < 40; k++) {
        x = fma(x, kept[k], kept[39 - k]);
    }
#endif
    if (x == -1.0 || sum == 0xffffffff) {
        words[id] = 1;
    }
}
