#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect a = -2
// expect b = -6
// expect c = 83
// expect d = -1
// expect e = -3
// expect f = 4
// expect g = true
void main() {
    uint i = gl_GlobalInvocationID.x;
    int a = int(i) - 7;
    int b = a * 3;
    uint c = (i << 4) | 3u;
    int d = b / 4;
    int e = bitfieldExtract(b, 1, 3);
    int f = bitCount(c);
    bool g = b < a && c != 82u;
    o.w[i] = uint(b);
    o.w[16 + i] = c;
    o.w[32 + i] = uint(d);
    o.w[48 + i] = uint(e);
    o.w[64 + i] = uint(f) + uint(g);
}
