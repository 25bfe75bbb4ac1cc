#version 450
// Two accesses of a texture a pixel. KIND: 0 of floats, 1 of unsigned numbers, 2 of signed ones. WAY: how it is accessed.
#extension GL_EXT_shader_image_load_formatted : require
#if KIND == 1
#define OF(type) u##type
#elif KIND == 2
#define OF(type) i##type
#else
#define OF(type) type
#endif
#define SAMPLE 0
#define ARRAY 1
#define CUBE 2
#define VOLUME 3
#define GATHER 4
#define FETCH 5
#define LOAD 6
#define STORE 7
#define SHADOW 8
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
#if WAY == SHADOW
layout(binding = 0) uniform sampler2DShadow image;
vec4 at(vec2 c) { return vec4(texture(image, vec3(c, 0.5))); }
#elif WAY == ARRAY
layout(binding = 0) uniform OF(sampler2DArray) image;
vec4 at(vec2 c) { return vec4(texture(image, vec3(c, 1.0))); }
#elif WAY == CUBE
layout(binding = 0) uniform OF(samplerCube) image;
vec4 at(vec2 c) { return vec4(texture(image, vec3(c * 2.0 - 1.0, 1.0))); }
#elif WAY == VOLUME
layout(binding = 0) uniform OF(sampler3D) image;
vec4 at(vec2 c) { return vec4(texture(image, vec3(c, 0.3))); }
#elif WAY == GATHER
layout(binding = 0) uniform OF(sampler2D) image;
vec4 at(vec2 c) { return vec4(textureGather(image, c)); }
#elif WAY == FETCH
layout(binding = 0) uniform OF(sampler2D) image;
vec4 at(vec2 c) { return vec4(texelFetch(image, ivec2(c * 512.0) & 511, 0)); }
#elif WAY == LOAD
layout(binding = 0) uniform readonly OF(image2D) image;
vec4 at(vec2 c) { return vec4(imageLoad(image, ivec2(c * 512.0) & 511)); }
#elif WAY == STORE
layout(binding = 0) uniform writeonly OF(image2D) image;
vec4 at(vec2 c) {
    imageStore(image, ivec2(c * 512.0) & 511, OF(vec4)(c * 100.0, 1, 2));
    return vec4(0);
}
#else
layout(binding = 0) uniform OF(sampler2D) image;
vec4 at(vec2 c) { return vec4(texture(image, c)); }
#endif
void main() { colour = at(uv) + at(uv.yx + vec2(0.125)); }
