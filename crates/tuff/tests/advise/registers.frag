// A chain of samples, each of which waits for the one before it: one place of a texture for each block of 4 x 4 fragments. MANY: what they give
// has to be kept until the last of them has come.
#version 450
layout(set = 0, binding = 0) uniform sampler2D a;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
void main() {
    vec2 at = floor(gl_FragCoord.xy * 0.25) * 0.37;
    vec4 sum = vec4(uv, 0.0, 0.0);
#ifdef MANY
    vec4 kept[12];
#endif
    for (int i = 0; i < 12; i++) {
        vec4 one = texture(a, at);
        at = at * 1.7 + one.xy;
#ifdef MANY
        kept[i] = one;
#else
        sum = sum * one + one.wzyx;
#endif
    }
#ifdef MANY
    for (int i = 0; i < 12; i++) sum = sum * kept[11 - i] + at.xyxy;
#endif
    colour = sum;
}
