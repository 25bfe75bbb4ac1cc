#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_ARB_sparse_texture2 : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D s2;
layout(binding = 1) uniform texture2DArray t2a[4];
layout(binding = 2) uniform sampler smp;
layout(binding = 3) uniform samplerCubeShadow cubeShadow;
layout(binding = 4) uniform isamplerBuffer ib;
layout(binding = 5, rgba8) uniform image2D img[];
layout(binding = 6, r32ui) uniform uimage3D u3;
layout(binding = 7) uniform sampler2DMS ms;
layout(binding = 8) uniform sampler2DArrayShadow as;
layout(binding = 9, rg32i) uniform writeonly iimageBuffer wb;
layout(binding = 10) uniform sampler2DRect rect;
void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    vec2 uv = vec2(p) / 64.0;
    vec4 c = textureLod(s2, uv, 1.0) + textureGrad(s2, uv, vec2(0.1), vec2(0.2)) + textureProjLod(s2, vec3(uv, 2.0), 0.0);
    c += textureLodOffset(s2, uv, 0.0, ivec2(1, -2)) + texelFetch(s2, p, 1) + texelFetchOffset(s2, p, 0, ivec2(3, 1));
    c += textureLod(sampler2DArray(t2a[nonuniformEXT(p.x & 3)], smp), vec3(uv, 1.0), 0.5);
    c += textureGather(s2, uv, 2) + textureGatherOffset(s2, uv, p & 3) + textureGather(as, vec3(uv, 1.0), 0.5);
    const ivec2 offs[4] = ivec2[](ivec2(0), ivec2(1), ivec2(2), ivec2(3));
    c += textureGatherOffsets(s2, uv, offs, 1);
    c.x += texture(cubeShadow, vec4(uv, 1.0, 0.3)) + textureGradOffset(as, vec4(uv, 0.0, 0.4), vec2(0.1), vec2(0.1), ivec2(1)).x;
    c += texelFetch(ms, p, 2) + vec4(texelFetch(ib, p.x)) + texelFetch(rect, p);
    c += vec4(textureSize(s2, 1), textureQueryLevels(s2), textureSamples(ms)) + vec4(imageSize(u3), textureSize(ib));
    vec4 sp; int code = sparseTexelFetchARB(s2, p, 0, sp);
    if (sparseTexelsResidentARB(code)) c += sp;
    c += imageLoad(img[p.y & 1], p);
    uint old = imageAtomicAdd(u3, ivec3(p, 0), 3u) + imageAtomicCompSwap(u3, ivec3(p, 1), 1u, 2u) + imageAtomicExchange(u3, ivec3(p, 2), 9u);
    imageStore(img[0], p, c + vec4(old));
    imageStore(wb, p.x, ivec4(p, 0, 0));
}
