#version 460
// What a sampler, a storage image and a buffer hold.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(set = 0, binding = 1, r32ui) uniform uimage2D written;
layout(set = 0, binding = 2) buffer Out { uint values[]; };

void main() {
    uint i = gl_LocalInvocationIndex;
    uint a = uint(texture(sampled, vec2(float(i) / 64.0, 0.5)).x * 255.0) + uint(textureSize(sampled, 0).x) * 100;
    imageStore(written, ivec2(i, 0), uvec4(i + 1));
    uint b = imageAtomicAdd(written, ivec2(i, 1), 5u);
    values[i] = a + b * 1000000;
}
