#version 450
// A texture at interpolated coordinates, scaled by a factor that is the same for a whole draw.
layout(set = 0, binding = 0) uniform sampler2D t;
layout(push_constant) uniform P { float a; float b; };
layout(location = 0) in vec2 uv;
layout(location = 1) flat in float f;
layout(location = 0) out vec4 o;
void main()
{
    float factor = sqrt(a) * b + 3.0;
    o = fma(texture(t, uv), vec4(factor), vec4(f));
}
