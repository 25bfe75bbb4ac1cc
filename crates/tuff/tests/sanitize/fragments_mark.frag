// Fragments of a column mark a texel.
#version 450
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 3, r32ui) uniform uimage2D stored;
layout(set = 0, binding = 4) uniform sampler2D image;
layout(location = 0) out vec4 colour;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = vec4(1.0);
#ifdef FAULT
    imageStore(stored, ivec2(p.x, 0), uvec4(p.y));
#else
    imageAtomicMax(stored, ivec2(p.x, 0), uint(p.y));
#endif
}
