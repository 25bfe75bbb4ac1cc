#version 450
// Interpolation qualifiers, all outputs, interpolateAt…
#extension GL_ARB_shader_stencil_export : require
layout(early_fragment_tests) in;
layout(depth_greater) out float gl_FragDepth;
layout(location = 0) in vec2 smooth_;
layout(location = 1) flat in ivec2 flat_;
layout(location = 2) noperspective in float linear;
layout(location = 3) centroid in float at_centroid;
layout(location = 4) in Block { vec2 unused; sample vec2 x; centroid noperspective vec4 y[2]; } block;
in float gl_ClipDistance[2];
layout(location = 0) out vec4 color;
layout(location = 0, index = 1) out vec4 second;
void main() {
    color.x = interpolateAtCentroid(smooth_.y) + block.x.y;
    color.z = interpolateAtOffset(linear, vec2(0.25, -0.5));
    color.w = interpolateAtSample(at_centroid, 3);
    second = vec4(block.y[1].z, gl_ClipDistance[1], flat_.y, gl_FragCoord.x);
    gl_FragDepth = gl_FragCoord.z + 1;
    gl_FragStencilRefARB = flat_.x + 3;
    gl_SampleMask[0] = gl_SampleMaskIn[0] & 5;
}
