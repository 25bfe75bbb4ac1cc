#version 460
#extension GL_EXT_ray_query : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint FLAGS = 0;
// New in each process that times the first trace: no cache has the pipeline.
layout(constant_id = 1) const float SEED = 0.0;

struct Ray {
    vec4 origin; // w: least t
    vec4 direction; // w: greatest t
};
layout(buffer_reference, std430) readonly buffer Rays { Ray list[]; };
layout(buffer_reference, std430) writeonly buffer Hits { vec2 list[]; };
layout(push_constant) uniform Push {
    uvec2 scene;
    Rays rays;
    Hits hits;
    uint count;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    Ray r = rays.list[i];
    rayQueryEXT q;
    rayQueryInitializeEXT(q, accelerationStructureEXT(scene), FLAGS, 0xFF, r.origin.xyz, r.origin.w, r.direction.xyz,
        r.direction.w + SEED);
    while (rayQueryProceedEXT(q)) {}
    // t and the primitive; t is below 0 for a miss.
    vec2 hit = vec2(-1.0, 0.0);
    if (rayQueryGetIntersectionTypeEXT(q, true) != gl_RayQueryCommittedIntersectionNoneEXT)
        hit = vec2(
            rayQueryGetIntersectionTEXT(q, true), uintBitsToFloat(rayQueryGetIntersectionPrimitiveIndexEXT(q, true)));
    hits.list[i] = hit;
}
