// Pixels that no compression makes smaller.
#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
void main() {
    uint h = uint(gl_FragCoord.x) * 747796405u + uint(gl_FragCoord.y) * 2891336453u;
    h = (h ^ h >> 13) * 277803737u;
    h ^= h >> 15;
    colour = unpackUnorm4x8(h) + 0.001 * uv.x;
}
