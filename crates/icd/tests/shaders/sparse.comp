#version 450
// What each way to read a sparse image gives, and whether it says that all is resident; and stores to images and buffers with holes.
#extension GL_ARB_sparse_texture2 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 16) in;

layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1, rgba8) uniform image2D stored;
layout(set = 0, binding = 2) buffer Out { vec4 texels[]; } result;
layout(set = 0, binding = 3) buffer Sparse { uint words[]; } holes;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint word; };

layout(push_constant) uniform Push {
    // 0: reads of the image, 1: stores to it, 2: the buffer by its descriptor, 3: by its address.
    uint what;
    uint stride;
    uvec2 address;
} push;

void main() {
    uint i = gl_LocalInvocationIndex;
    vec4 t = vec4(-1.0);
    int code = 0;
    if (push.what == 0u) {
        // Texels 0, 64, 128, … of row 5: two in each block of 128.
        ivec2 at = ivec2(64 * (i & 7u), 5);
        // At the edge between texels 127 and 128, of both.
        vec2 edge = vec2(128.0, 5.5) / vec2(textureSize(image, 0));
        if (i < 8u) {
            code = sparseTexelFetchARB(image, at, 0, t);
        } else if (i < 12u) {
            code = sparseImageLoadARB(stored, ivec2(128 * (i & 3u) + 1, 0), t);
        } else if (i == 12u) {
            code = sparseTextureLodARB(image, edge, 0.0, t);
        } else if (i == 13u) {
            code = sparseTextureGatherARB(image, edge, t, 3);
        } else if (i == 14u) {
            // The tail's first level.
            code = sparseTexelFetchARB(image, ivec2(1, 1), 2, t);
        } else {
            code = sparseTextureLodARB(image, vec2(0.1, 0.01), 0.0, t);
        }
        result.texels[2 * i] = t;
        result.texels[2 * i + 1] = vec4(sparseTexelsResidentARB(code) ? 1.0 : 0.0);
    } else if (push.what == 1u) {
        imageStore(stored, ivec2(64 * (i & 7u) + 2, 7), vec4(1.0, 0.0, 1.0, 0.0));
    } else if (push.what == 2u) {
        uint at = i * push.stride;
        holes.words[at] = 100u + i;
        uint old = atomicAdd(holes.words[at], 1u);
        result.texels[i] = vec4(float(old), float(holes.words[at]), 0.0, 0.0);
    } else {
        uvec2 at = uvec2(push.address.x + 4u * i * push.stride, push.address.y);
        Word w = Word(at);
        w.word = 200u + i;
        uint old = atomicExchange(w.word, 300u + i);
        result.texels[i] = vec4(float(old), float(w.word), 0.0, 0.0);
    }
}
