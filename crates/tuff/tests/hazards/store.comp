#version 450
// Writes a part of an image.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 2, rgba8) writeonly uniform image2D target;
layout(push_constant) uniform Push { uvec2 first; };

void main()
{
    ivec2 at = ivec2(first + gl_GlobalInvocationID.xy);
    imageStore(target, at, vec4(0.5));
}
