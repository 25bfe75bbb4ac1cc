#version 460
// Samples an image, loads from it, or stores to it.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D sampled;
layout(set = 0, binding = 1, rgba8) uniform image2D stored;
layout(set = 0, binding = 2) buffer Out { vec4 values[]; };
layout(push_constant) uniform Push { uint what; };

void main() {
    uint i = gl_LocalInvocationIndex;
    if (what == 0) values[i] = textureLod(sampled, vec2(float(i) / 64.0, 0.5), 0.0);
    if (what == 1) values[i] = imageLoad(stored, ivec2(i, 0));
    if (what == 2) imageStore(stored, ivec2(i, 0), vec4(1.0));
}
