#version 460
// Every kind of descriptor that a descriptor buffer has, in arrays where arrays are allowed.
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require

layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint pick; } push;

layout(set = 0, binding = 0) uniform U { uvec4 v; } u[4];
layout(set = 0, binding = 1) uniform texture2D tex[2];
layout(set = 0, binding = 2) uniform sampler smp;
layout(set = 0, binding = 3) uniform sampler2D both;
layout(set = 0, binding = 4, r32ui) uniform uimage2D img;
layout(set = 0, binding = 5) uniform usamplerBuffer texels;
layout(set = 0, binding = 6, r32ui) uniform uimageBuffer stored;
layout(set = 0, binding = 7) uniform Block { uvec4 a; uvec4 b; } block;
layout(set = 0, binding = 8) buffer S { uint v[]; } s[];
layout(set = 1, binding = 0) buffer Out { uvec4 v[]; } result;

void main() {
    uint i = gl_LocalInvocationIndex;
    ivec2 xy = ivec2(i & 7, i >> 3);
    vec2 uv = (vec2(xy) + 0.5) / 8.0;
    uvec4 a, b, c, d;
    a.x = u[push.pick].v.x;
    a.y = u[nonuniformEXT(i & 3)].v.y;
    a.z = block.b.z;
    a.w = s[nonuniformEXT(i % 3)].v[i];
    b.x = floatBitsToUint(texelFetch(tex[push.pick & 1], xy, 0).x);
    b.y = floatBitsToUint(textureLod(sampler2D(tex[nonuniformEXT(i & 1)], smp), uv, 0.0).y);
    b.z = floatBitsToUint(textureLod(both, uv, 0.0).x);
    b.w = imageLoad(img, xy).x;
    c.x = texelFetch(texels, int(i)).x;
    c.y = imageAtomicAdd(stored, int(i), 5u);
    c.z = s[push.pick % 3].v.length();
    c.w = textureSize(tex[0], 0).x;
    d.x = textureSize(texels);
    d.y = imageSize(stored);
    d.z = imageSize(img).x;
    d.w = 0x5A;
    s[1].v[100 + i] = i ^ 0x55;
    imageStore(img, xy, uvec4(7 * i + 1));
    result.v[4 * i] = a;
    result.v[4 * i + 1] = b;
    result.v[4 * i + 2] = c;
    result.v[4 * i + 3] = d;
}
