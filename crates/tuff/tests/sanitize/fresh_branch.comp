// Whether an element is set depends on memory.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
layout(set = 0, binding = 3, r32ui) uniform uimage2D stored;
layout(set = 0, binding = 4) uniform sampler2D image;
layout(set = 0, binding = 5, r32ui) uniform uimageBuffer texels;
layout(push_constant) uniform P { uint pushed[4]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint k = gl_LocalInvocationIndex;
    ivec2 p = ivec2(i % 16, i / 16);
    if (a[i] > 5) b[i] = 1;
}
