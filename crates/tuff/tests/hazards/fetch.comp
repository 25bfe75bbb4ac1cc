#version 450
// Reads a row of an image into a buffer.
layout(local_size_x = 32) in;
layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(set = 0, binding = 3) uniform sampler2D source;
layout(push_constant) uniform Push { uvec2 first; };

void main()
{
    vec4 texel = texelFetch(source, ivec2(first) + ivec2(gl_GlobalInvocationID.x, 0), 0);
    to[gl_GlobalInvocationID.x] = packUnorm4x8(texel);
}
