#version 450
// Samples two images through samplers with Y'CbCr conversions, as each point says.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2DArray images[2];
// s, t, layer, what is done.
layout(std430, set = 0, binding = 1) readonly buffer Points { vec4 points[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Colours { vec4 colours[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    vec4 p = points[i];
    vec4 c;
    switch (int(p.w)) {
    case 0:
        c = textureLod(images[0], p.xyz, 0.0);
        break;
    case 1:
        c = textureLod(images[1], p.xyz, 0.0);
        break;
    case 2:
        // As large as a texel, or smaller.
        c = textureGrad(images[0], p.xyz, vec2(0.001, 0.0), vec2(0.0, 0.001));
        break;
    default:
        c = vec4(textureSize(images[0], 0), textureSize(images[1], 0).x);
        break;
    }
    colours[i] = c;
}
