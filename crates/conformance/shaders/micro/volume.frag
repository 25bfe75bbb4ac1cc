#version 450

// A sample a pixel, in a slice.
layout(push_constant) uniform Push { vec2 scale; };
layout(set = 0, binding = 0) uniform sampler3D image;
layout(location = 0) out vec4 colour;

void main() {
    colour = texture(image, vec3(gl_FragCoord.xy * scale, 0.4));
}
