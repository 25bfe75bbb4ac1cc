// Arithmetic of 32 bits.
#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
void main() {
    vec4 c = vec4(uv, 0.25, 0.75);
    for (int i = 0; i < 12; i++)
        c = c * vec4(1.1, 1.2, 0.9, 0.8) * c.yzwx;
    colour = vec4(c.rgb, 1.0);
}
