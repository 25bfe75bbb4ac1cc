// A colour.
#version 450
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 3, r32ui) uniform uimage2D stored;
layout(set = 0, binding = 4) uniform sampler2D image;
layout(location = 0) out vec4 colour;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = vec4(1.0);
    colour.a = 0.5;
}
