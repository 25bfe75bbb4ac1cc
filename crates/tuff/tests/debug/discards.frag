#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
layout(binding = 0) buffer Out { uint w[256]; } o;
// Pixel 4,2 of this quad is discarded; its place is still in the others' derivatives.
// expect x = 5.5
// expect keep = true
// expect dx = 1.0
void main() {
    vec2 p = gl_FragCoord.xy;
    float x = p.x;
    bool keep = (int(p.x) + int(p.y)) % 2 == 0;
    if (int(p.x) == 4 && int(p.y) == 2) {
        discard;
    }
    keep = !(int(p.x) == 4 && int(p.y) == 2);
    float dx = dFdx(x);
    colour = vec4(dx);
    o.w[int(p.y) * 16 + int(p.x)] = floatBitsToUint(x);
}
