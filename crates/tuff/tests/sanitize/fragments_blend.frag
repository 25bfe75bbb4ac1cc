// Fragments of one pixel change its texel one after the other.
#version 450
#extension GL_ARB_fragment_shader_interlock : require
#ifndef FAULT
layout(pixel_interlock_ordered) in;
#endif
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 3, r32ui) uniform coherent uimage2D stored;
layout(set = 0, binding = 4) uniform sampler2D image;
layout(location = 0) out vec4 colour;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = vec4(1.0);
#ifndef FAULT
    beginInvocationInterlockARB();
#endif
    uint old = imageLoad(stored, p).x;
    imageStore(stored, p, uvec4(old * 3u + uint(gl_PrimitiveID) + old));
#ifndef FAULT
    endInvocationInterlockARB();
#endif
}
