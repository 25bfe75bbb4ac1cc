#version 460
// Push descriptors (set 0), embedded samplers (set 1) and a descriptor buffer (set 2) in one pipeline.
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Out { uint v[]; } result;
layout(set = 0, binding = 1) uniform U { uvec4 v; } u;
layout(set = 1, binding = 0) uniform sampler smp;
layout(set = 2, binding = 3) uniform texture2D tex;

void main() {
    uint i = gl_LocalInvocationIndex;
    // Odd ones lie outside, where the sampler has a white border.
    vec2 uv = (vec2(i & 7, i >> 3) + 0.5) / 8.0 + float(i & 1) * 2.0;
    result.v[i] = uint(textureLod(sampler2D(tex, smp), uv, 0.0).x) + u.v.x;
}
