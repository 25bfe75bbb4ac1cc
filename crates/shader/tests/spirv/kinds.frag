#version 460
// Types of all widths, every built-in, input attachments, varyings indexed at run time.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_multiview : require
layout(location = 0) in f16vec3 half_;
layout(location = 1) flat in i16vec2 short_;
layout(location = 2) flat in double wide;
layout(location = 3) flat in int which;
layout(location = 4) in vec2 list[3];
layout(location = 7) in mat2 mat;
layout(input_attachment_index = 0, set = 0, binding = 3) uniform subpassInputMS tile;
layout(location = 0) out f16vec4 h;
layout(location = 1) out i16vec4 s;
layout(location = 2) out u16vec2 u;
layout(location = 3) out vec4 color[3];
layout(location = 6) out ivec4 ids;
void main() {
    h = f16vec4(half_ * half_, float16_t(wide));
    s = i16vec4(short_.x * int16_t(3), short_.y >> 1, gl_PrimitiveID, gl_Layer);
    u = u16vec2(short_) + uint16_t(1);
    color[0] = vec4(list[which], interpolateAtSample(list[which].y, gl_SampleID), mat[1].x);
    color[which] = vec4(gl_PointCoord, gl_SamplePosition);
    ids = ivec4(gl_SampleID, gl_ViewportIndex, gl_FrontFacing ? gl_ViewIndex : -1, floatBitsToInt(subpassLoad(tile, 2).y));
}
