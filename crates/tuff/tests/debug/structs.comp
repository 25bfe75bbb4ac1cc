#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
struct Part { vec2 at; float of[2]; };
struct Whole { int n; Part part; };
// expect s.n = 5
// expect s.part.at = (1.0, 5.0)
// expect s.part.of = (0.5, 7.0)
// expect t = (6, ((1.0, 5.0), (0.5, 7.0)))
void main() {
    uint i = gl_GlobalInvocationID.x;
    Whole s;
    s.n = int(i);
    s.part.at = vec2(1, i);
    s.part.of[0] = 0.5;
    s.part.of[i & 1u] = 7.0;
    Whole t = s;
    t.n += 1;
    o.w[i] = uint(t.n);
    o.w[16 + i] = floatBitsToUint(t.part.of[1] + t.part.at.y);
}
