#version 460
#extension GL_NV_compute_shader_derivatives : require
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x=4, local_size_y=4) in;
layout(derivative_group_quadsNV) in;
layout(set=0,binding=0,std430) buffer O { uint o[]; };
layout(set=0,binding=1) uniform sampler2D tex[3];
layout(set=0,binding=2) uniform sampler2DArray layers;
layout(set=0,binding=3) uniform samplerCubeArray cubes;
layout(set=0,binding=4) uniform sampler3D volume;
layout(set=0,binding=5) uniform isamplerBuffer texels;
layout(set=0,binding=6,rgba8) uniform image2D storage[2];
layout(set=0,binding=7,std430) buffer B { uint x[]; } blocks[2];
layout(set=0,binding=8) uniform sampler1DArray lines;
layout(push_constant) uniform P { float step; uint index; };
void main() {
    vec2 uv = vec2(gl_LocalInvocationID.xy) * step;
    vec2 lod = textureQueryLod(tex[index], uv);
    ivec2 size = textureSize(tex[index], 0), small = textureSize(tex[index], 2);
    vec4 texel = texelFetch(tex[index], ivec2(3), 0), filtered = textureLod(tex[index], uv, 0.0);
    ivec2 stored = imageSize(storage[index]);
    vec4 read = imageLoad(storage[index], ivec2(1));
    imageStore(storage[index], ivec2(1), vec4(1));
    ivec3 l = textureSize(layers, 1), c = textureSize(cubes, 0), v = textureSize(volume, 1);
    ivec2 d = textureSize(lines, 0);
    uint was = blocks[index].x[1];
    blocks[index].x[1] = 77;
    if (gl_LocalInvocationIndex != 0) return;
    o[0] = floatBitsToUint(lod.x); o[1] = floatBitsToUint(lod.y);
    o[2] = size.x; o[3] = size.y; o[4] = small.x; o[5] = small.y;
    o[6] = textureQueryLevels(tex[index]);
    o[7] = floatBitsToUint(texel.x); o[8] = floatBitsToUint(filtered.w);
    o[9] = stored.x; o[10] = stored.y; o[11] = floatBitsToUint(read.y);
    o[12] = l.x; o[13] = l.y; o[14] = l.z; o[15] = c.x; o[16] = c.y; o[17] = c.z;
    o[18] = v.x; o[19] = v.y; o[20] = v.z; o[21] = textureSize(texels); o[22] = d.x; o[23] = d.y;
    o[24] = blocks[index].x.length(); o[25] = was; o[26] = textureSize(tex[index], 40).x;
}
