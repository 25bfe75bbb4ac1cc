#version 450

// A texture of 256 × 256 texels, a texel a pixel, as often as it takes.
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 colour;

void main() {
    colour = textureLod(image, gl_FragCoord.xy / 256.0, 0.0);
}
