#version 450
layout(location = 0) in vec2 uv;
layout(location = 1) flat in uvec2 number;
layout(location = 0) out vec4 colour;
layout(binding = 0) buffer Out { uint w[256]; } o;
layout(binding = 1) uniform sampler2D picture;
layout(binding = 2) uniform Scene { mat4 view; vec4 tint; } scene;
// Texel (x, y) of 4 × 4 is (x, y, 4, 15) · 17 / 255. Pixel 5,3 lies at (1.375, 0.875) texels: between those at 0.5 and 1.5.
// expect texel = (1.0, 0.0, 4.0, 15.0)
// expect size = (4, 4)
// expect s = (0.058333334, 0.025, 0.26666668, 1.0)
// expect tint = (16.0, 17.0, 18.0, 19.0)
// expect z = 4.0
void main() {
    vec4 t = texelFetch(picture, ivec2(uv * 4.0), 0);
    vec4 texel = round(t * 15.0);
    ivec2 size = textureSize(picture, 0);
    vec4 s = texture(picture, uv);
    vec4 tint = scene.tint;
    float z = scene.view[1].x;
    colour = s * tint;
    vec2 p = gl_FragCoord.xy;
    o.w[int(p.y) * 16 + int(p.x)] = floatBitsToUint(s.x);
}
