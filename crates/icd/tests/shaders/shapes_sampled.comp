#version 450
// Every shape of a sampled image, of which the test gives all the same view: what comes is nobody's business, that it ends is.
layout(local_size_x = 64) in;
layout(binding = 0) uniform sampler1D a;
layout(binding = 1) uniform sampler1DArray b;
layout(binding = 2) uniform sampler2D c;
layout(binding = 3) uniform sampler2DArray d;
layout(binding = 4) uniform sampler3D e;
layout(binding = 5) uniform samplerCube f;
layout(binding = 6) uniform samplerCubeArray g;
layout(binding = 7) uniform sampler2DMS h;
layout(binding = 8) uniform sampler2DMSArray i;
layout(binding = 9) uniform isampler2D j;
layout(binding = 10) uniform usampler3D k;
layout(binding = 11) uniform sampler2DShadow l;
layout(binding = 12) uniform samplerCubeShadow m;
layout(binding = 13) uniform sampler2DArrayShadow n;
layout(binding = 14, std430) buffer Out { vec4 o[]; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    // In the image, a little outside, far outside, and any bits at all.
    uint bits = id * 2654435761u;
    vec4 p = vec4(bits & 255u, bits >> 8 & 255u, bits >> 16 & 255u, bits >> 24) / 200.0 - 0.1;
    ivec3 t = ivec3(bits & 63u, bits >> 6 & 63u, bits >> 12 & 15u);
    int level = int(bits >> 20 & 7u);
    if (id % 4u == 1u) {
        p = uintBitsToFloat(uvec4(bits, bits * 3u, bits * 5u, bits * 7u));
        t = ivec3(bits, bits * 3u, bits * 5u);
        level = int(bits * 9u);
    } else if (id % 4u == 2u) {
        p *= 1e30;
        t = ivec3(-1, 0x7fffffff, -0x7fffffff - 1);
        level = -1;
    }
    float lod = float(level) / 2.0;
    vec4 s = vec4(0.0);
    s += textureLod(a, p.x, lod) + texelFetch(a, t.x, level) + textureGrad(a, p.x, p.y, p.z);
    s += textureLod(b, p.xy, lod) + texelFetch(b, t.xy, level);
    s += textureLod(c, p.xy, lod) + texelFetch(c, t.xy, level) + textureGather(c, p.xy, 2);
    s += textureGrad(c, p.xy, p.yz, p.zw) + textureLodOffset(c, p.xy, lod, ivec2(-8, 7)) + textureProjLod(c, p, lod);
    s += textureLod(d, p.xyz, lod) + texelFetch(d, t, level) + textureGather(d, p.xyz, 1);
    s += textureLod(e, p.xyz, lod) + texelFetch(e, t, level) + textureGrad(e, p.xyz, p.yzw, p.zwx);
    s += textureLod(f, p.xyz, lod) + textureGather(f, p.xyz, 3) + textureGrad(f, p.xyz, p.yzw, p.zwx);
    s += textureLod(g, p, lod) + textureGather(g, p, 0);
    s += texelFetch(h, t.xy, level) + texelFetch(i, t, level);
    s += vec4(textureLod(j, p.xy, lod) + texelFetch(j, t.xy, level) + textureGather(j, p.xy, 1));
    s += vec4(textureLod(k, p.xyz, lod) + texelFetch(k, t, level));
    s += textureLod(l, p.xyz, lod) + textureGather(l, p.xy, p.z) + textureLod(l, p.wyz, lod);
    s += textureGrad(m, p, p.xyz, p.yzw) + textureGather(m, p.xyz, p.w);
    s += textureGrad(n, p, p.xy, p.yz) + textureGather(n, p.xyz, p.w);
    s.xy += vec2(textureSize(b, level) + textureSize(c, level) + textureSize(f, level) + textureSize(h));
    s.xyz += vec3(textureSize(d, level) + textureSize(e, level) + textureSize(g, level) + textureSize(i));
    s.w += float(textureSize(a, level) + textureQueryLevels(a) + textureQueryLevels(g) + textureSamples(h));
    o[id] = s;
}
