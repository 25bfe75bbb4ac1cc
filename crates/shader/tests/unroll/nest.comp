#version 450
#extension GL_EXT_control_flow_attributes : require
// As matrix products of ggml's are written: a tile of 8 x 8 sums in nests of loops, four steps of the product at once. What is unrolled
// is 64 times the innermost body, and what leads out of each loop.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint ROWS = 4;
layout(constant_id = 1) const uint COLUMNS = 2;
layout(set = 0, binding = 0) buffer O { float o[]; };
layout(set = 0, binding = 1) readonly buffer I { vec2 words[]; };
layout(push_constant) uniform P { uint n; };
const uint BLOCK = 2;
void main() {
    float sums[BLOCK * ROWS * 4 * COLUMNS];
    vec2 a[BLOCK * ROWS * 2], b[2];
    [[unroll]] for (uint i = 0; i < BLOCK * ROWS * 4 * COLUMNS; i++) sums[i] = 0.0;
    for (uint k = 0; k < n; k++) {
        [[unroll]] for (uint r = 0; r < BLOCK; r++)
            [[unroll]] for (uint i = 0; i < ROWS; i++) {
                a[(r * ROWS + i) * 2] = words[k + r * 8 + i];
                a[(r * ROWS + i) * 2 + 1] = words[k + r * 8 + i + 64];
            }
        [[unroll]] for (uint s = 0; s < 4; s++)
            [[unroll]] for (uint c = 0; c < COLUMNS; c++) {
                b[0] = words[k + s * 2 + c + 128];
                b[1] = words[k + s * 2 + c + 192];
                [[unroll]] for (uint r = 0; r < BLOCK; r++)
                    [[unroll]] for (uint i = 0; i < ROWS; i++) {
                        uint at = (s * COLUMNS + c) * BLOCK * ROWS + r * ROWS + i;
                        uint of = (r * ROWS + i) * 2;
                        sums[at] = fma(a[of].x, b[0].x, fma(a[of].y, b[0].y, fma(a[of + 1].x, b[1].x, fma(a[of + 1].y, b[1].y, sums[at]))));
                    }
            }
    }
    float r = 0.0;
    [[unroll]] for (uint i = 0; i < BLOCK * ROWS * 4 * COLUMNS; i++) r += sums[i] * float(i + 1);
    o[gl_GlobalInvocationID.x] = r;
}
