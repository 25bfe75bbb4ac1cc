#version 450

// Colours for what as-en measures of fragments: noise of so many pixels a side, a gradient, texels at random places, or a colour that is discarded
// nowhere.
layout(push_constant) uniform Push { uint what; uint n; };
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 colour;

uvec2 hashed(uvec2 p) {
    uint h = p.x * 0x9E3779B1u ^ p.y * 0x85EBCA77u;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    h ^= h >> 15;
    return uvec2(h, h * 0xC2B2AE3Du ^ h >> 7);
}

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    if (what == 0) {
        uint h = hashed(at / n).x;
        colour = vec4(h & 255, h >> 8 & 255, h >> 16 & 255, h >> 24) / 255.0;
    } else if (what == 1) {
        colour = vec4(gl_FragCoord.xy / 1024.0, 0.5, 1.0);
    } else if (what == 2) {
        colour = textureLod(image, vec2(hashed(at) & 0xFFFFu) / 65536.0, 0.0);
    } else {
        colour = vec4(0.25);
    }
}
