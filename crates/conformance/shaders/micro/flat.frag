#version 450

// A sample a pixel, in steps along each axis.
layout(push_constant) uniform Push { vec2 scale; };
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 colour;

void main() {
    colour = texture(image, gl_FragCoord.xy * scale);
}
