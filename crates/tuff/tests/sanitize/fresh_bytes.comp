// A branch on a byte.
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint8_t a[]; };
layout(set = 0, binding = 1) buffer B { uint8_t b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
layout(set = 0, binding = 3, r32ui) uniform uimage2D stored;
layout(set = 0, binding = 4) uniform sampler2D image;
layout(set = 0, binding = 5, r32ui) uniform uimageBuffer texels;
layout(push_constant) uniform P { uint pushed[4]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint k = gl_LocalInvocationIndex;
    ivec2 p = ivec2(i % 16, i / 16);
    if (a[i] > uint8_t(5)) b[i] = uint8_t(1);
}
