#version 450
// Private arrays: small ones as selects, large ones in scratch; structs, matrices, pointer parameters.
layout(local_size_x = 64) in;
struct S { vec3 v; float w[3]; mat2x3 m; };
layout(std430, row_major, binding = 0) buffer A { mat4x3 rm; layout(column_major) mat3 cm; S s[2]; float tail[]; };
layout(std140, binding = 1) uniform U { mat3x4 um; float ua[5]; ivec4 ui; };
layout(push_constant) uniform P { layout(offset = 16) mat2 pm; uint pi; };
shared float sh[64];
shared vec3 sv[8];
const float table[5] = float[](1.0, 2.0, 4.0, 8.0, 16.0);
void fill(inout float t[40], int k, out vec4 o) {
    for (int i = 0; i < 40; i++) t[i] = float(i * k);
    o = vec4(t[k], t[k + 1], t[3], 1.0);
}
void main() {
    uint i = gl_LocalInvocationIndex;
    float big[40];
    vec4 o;
    fill(big, ui[i & 3u], o);
    float small[4] = float[](o.x, o.y, o.z, o.w);
    small[i & 3u] += table[pi % 5u];
    vec3 v = rm * o;
    v[i % 3u] = big[i % 40u];
    mat3 c = cm;
    c[i % 3u] = v;
    c[1][2] = small[(i + 1u) & 3u];
    cm = inverse(c) * determinant(c);
    S t = s[i & 1u];
    t.m[1] = v;
    t.w[i % 3u] = um[1][2] + ua[i % 5u];
    s[1u - (i & 1u)] = t;
    rm[2] = t.m * pm[0];
    sh[i] = v.x;
    sv[i & 7u] = v;
    barrier();
    tail[i] = sh[63u - i] + sv[(i + 1u) & 7u].y + float(tail.length());
}
