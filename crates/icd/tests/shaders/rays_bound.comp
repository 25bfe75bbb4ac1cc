#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform accelerationStructureEXT scene;
layout(set = 0, binding = 1, std430) writeonly buffer Out { uint words[]; };

void main() {
    rayQueryEXT q;
    rayQueryInitializeEXT(q, scene, gl_RayFlagsOpaqueEXT, 0xFF, vec3(0.25, 0.25, 5.0), 0.0, vec3(0.0, 0.0, -1.0), 100.0);
    while (rayQueryProceedEXT(q)) {
    }
    words[0] = rayQueryGetIntersectionTypeEXT(q, true);
    words[1] = floatBitsToUint(rayQueryGetIntersectionTEXT(q, true));
    // glslang 12 has no GL_EXT_ray_tracing_position_fetch: the test stores the hit triangle's vertices instead of this constant.
    vec3 at[3] = vec3[3](vec3(1.0), vec3(2.0), vec3(3.0));
    for (int k = 0; k < 9; k++)
        words[2 + k] = floatBitsToUint(at[k / 3][k % 3]);
}
