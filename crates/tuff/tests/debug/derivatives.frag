#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
layout(binding = 0) buffer Out { uint w[256]; } o;
// Of pixel 5,3, in the quad from 4,2.
// expect x = 32.25
// expect dx = 10.0
// expect dy = 1.0
// expect fw = 11.0
// expect coarse = 10.0
// expect uv = (0.34375, 0.21875)
// expect colour = (0.34375, 0.21875, 10.0, 1.0)
void main() {
    vec2 p = gl_FragCoord.xy;
    float x = p.x * p.x + p.y - 1.5;
    float dx = dFdxFine(x);
    float dy = dFdyFine(x);
    float fw = fwidth(x);
    float coarse = dFdx(x);
    colour = vec4(uv, dx, dy);
    o.w[int(p.y) * 16 + int(p.x)] = floatBitsToUint(dx + dy);
}
