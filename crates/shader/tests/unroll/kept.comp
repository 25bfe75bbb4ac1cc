#version 450
#extension GL_EXT_control_flow_attributes : require
// A tile of 32 sums in a private array, reached by constant nested loops; the number of outer turns is the caller's.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint ROWS = 4;
layout(set = 0, binding = 0) buffer O { float o[]; };
layout(push_constant) uniform P { uint n; };
void main() {
    float s[32], a[4], b[8];
    for (uint i = 0; i < 32; i++) s[i] = 0.0;
    for (uint k = 0; k < n; k++) {
        for (uint i = 0; i < ROWS; i++) a[i] = float(k + i);
        for (uint j = 0; j < 8; j++) b[j] = float(k * j);
        [[dont_unroll]] for (uint i = 0; i < ROWS; i++)
            for (uint j = 0; j < 8; j++) { uint at = i * 8 + j; s[at] += a[i] * b[j]; }
    }
    float r = 0.0;
    for (uint i = 0; i < 32; i++) r += s[i] * float(i + 1);
    o[gl_GlobalInvocationID.x] = r;
}
