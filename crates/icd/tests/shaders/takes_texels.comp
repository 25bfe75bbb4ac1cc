#version 460
// As takes_images.comp, of texel buffers.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform samplerBuffer sampled;
layout(set = 0, binding = 1, r32ui) uniform uimageBuffer written;
layout(set = 0, binding = 2) buffer Out { uint values[]; };

void main() {
    uint i = gl_LocalInvocationIndex;
    uint a = uint(texelFetch(sampled, int(i)).x * 255.0) + uint(textureSize(sampled)) * 100;
    imageStore(written, int(i), uvec4(i + 1));
    uint b = imageAtomicAdd(written, int(i) + 64, 5u);
    values[i] = a + b * 1000000;
}
