#version 450

// What clpeak and azhirnov's as-en measure of arithmetic and of buffers: n rounds of 64 fused multiply-adds of one scalar, or of vectors of four; or
// 16, 32 or 64 bytes that each invocation copies, the next one's behind them.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint what; uint n; };
layout(set = 0, binding = 0) readonly buffer From { vec4 from[]; };
layout(set = 0, binding = 1) buffer To { vec4 to[]; };

#define FOUR(x) x = fma(x, x, y); x = fma(x, x, y); x = fma(x, x, y); x = fma(x, x, y);
#define SIXTEEN(x) FOUR(x) FOUR(x) FOUR(x) FOUR(x)

void main() {
    uint id = gl_GlobalInvocationID.x;
    if (what == 0) {
        float x = float(id), y = 0.25;
        for (uint i = 0; i < n; i++) {
            SIXTEEN(x) SIXTEEN(x) SIXTEEN(x) SIXTEEN(x)
        }
        if (x == -1.0) {
            to[id].x = x;
        }
    } else if (what == 1) {
        vec4 x = vec4(id) + vec4(0, 1, 2, 3), y = vec4(0.25);
        for (uint i = 0; i < n; i++) {
            SIXTEEN(x) SIXTEEN(x) SIXTEEN(x) SIXTEEN(x)
        }
        if (x == vec4(-1.0)) {
            to[id] = x;
        }
    } else if (what == 2) {
        to[id] = from[id];
    } else if (what == 3) {
        to[id * 2] = from[id * 2];
        to[id * 2 + 1] = from[id * 2 + 1];
    } else {
        to[id * 4] = from[id * 4];
        to[id * 4 + 1] = from[id * 4 + 1];
        to[id * 4 + 2] = from[id * 4 + 2];
        to[id * 4 + 3] = from[id * 4 + 3];
    }
}
