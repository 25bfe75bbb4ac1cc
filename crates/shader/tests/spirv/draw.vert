#version 460
// Built-ins of the vertex stage, subgroups, stores.
#extension GL_ARB_shader_viewport_layer_array : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_multiview : require
#extension GL_EXT_device_group : require
layout(location = 0) in uvec2 x;
layout(set = 0, binding = 0) buffer B { uint sum; uint seen[]; };
layout(location = 0) flat out uvec4 a;
layout(location = 1) flat out ivec4 b;
out float gl_CullDistance[2];
void main() {
    gl_Layer = int(x.x) & 3;
    gl_ViewportIndex = gl_ViewIndex + 1;
    gl_PointSize = 4;
    gl_CullDistance[1] = -1;
    a = uvec4(subgroupBallot(x.x > 2).x, subgroupAdd(x.y), gl_SubgroupInvocationID, gl_SubgroupSize);
    b = ivec4(gl_BaseVertex, gl_BaseInstance, gl_DrawID, gl_DeviceIndex);
    atomicAdd(sum, 1u);
    seen[gl_VertexIndex] = x.y;
    gl_Position = vec4(0.5, 0.25, 0, 1);
}
