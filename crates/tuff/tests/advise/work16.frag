// The same arithmetic of 16 bits.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
void main() {
    f16vec4 c = f16vec4(f16vec2(uv), 0.25hf, 0.75hf);
    for (int i = 0; i < 12; i++)
        c = c * f16vec4(1.1hf, 1.2hf, 0.9hf, 0.8hf) * c.yzwx;
    colour = vec4(c.rgb, 1.0);
}
