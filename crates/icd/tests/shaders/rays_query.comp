#version 460
#extension GL_EXT_ray_query : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 16) in;

struct Ray {
    vec3 origin;
    float t_min;
    vec3 direction;
    float t_max;
    uint flags;
    uint mask;
    // Primitives whose triangles are confirmed; bit 31: the query ends at its first candidate.
    uint confirm;
    // Where boxes are hit; 0: nowhere.
    float generate;
};
layout(buffer_reference, std430) readonly buffer Rays { Ray list[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint words[]; };
layout(push_constant) uniform Push {
    uvec2 scene;
    Rays rays;
    Out to;
    uint count;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    Ray r = rays.list[i];
    rayQueryEXT q;
    rayQueryInitializeEXT(
        q, accelerationStructureEXT(scene), r.flags, r.mask, r.origin, r.t_min, r.direction, r.t_max);
    uint triangles = 0, boxes = 0;
    while (rayQueryProceedEXT(q)) {
        if (rayQueryGetIntersectionTypeEXT(q, false) == gl_RayQueryCandidateIntersectionTriangleEXT) {
            triangles++;
            uint p = rayQueryGetIntersectionPrimitiveIndexEXT(q, false);
            if ((r.confirm >> p & 1) != 0)
                rayQueryConfirmIntersectionEXT(q);
        } else {
            boxes++;
            if (r.generate != 0.0)
                rayQueryGenerateIntersectionEXT(q, r.generate);
        }
        if (r.confirm >> 31 != 0)
            rayQueryTerminateEXT(q);
    }
    uint at = 48 * i;
    uint kind = rayQueryGetIntersectionTypeEXT(q, true);
    to.words[at++] = kind;
    to.words[at++] = triangles;
    to.words[at++] = boxes;
    if (kind == gl_RayQueryCommittedIntersectionNoneEXT) {
        for (; at < 48 * i + 48; at++)
            to.words[at] = 0;
        return;
    }
    to.words[at++] = floatBitsToUint(rayQueryGetIntersectionTEXT(q, true));
    to.words[at++] = rayQueryGetIntersectionPrimitiveIndexEXT(q, true);
    to.words[at++] = rayQueryGetIntersectionGeometryIndexEXT(q, true);
    to.words[at++] = rayQueryGetIntersectionInstanceIdEXT(q, true);
    to.words[at++] = rayQueryGetIntersectionInstanceCustomIndexEXT(q, true);
    to.words[at++] = rayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetEXT(q, true);
    bool triangle = kind == gl_RayQueryCommittedIntersectionTriangleEXT;
    vec2 barycentrics = triangle ? rayQueryGetIntersectionBarycentricsEXT(q, true) : vec2(0);
    to.words[at++] = triangle && rayQueryGetIntersectionFrontFaceEXT(q, true) ? 1 : 0;
    to.words[at++] = floatBitsToUint(barycentrics.x);
    to.words[at++] = floatBitsToUint(barycentrics.y);
    vec3 o = rayQueryGetIntersectionObjectRayOriginEXT(q, true);
    vec3 d = rayQueryGetIntersectionObjectRayDirectionEXT(q, true);
    for (int k = 0; k < 3; k++) {
        to.words[at + k] = floatBitsToUint(o[k]);
        to.words[at + 3 + k] = floatBitsToUint(d[k]);
    }
    mat4x3 m = rayQueryGetIntersectionObjectToWorldEXT(q, true);
    mat4x3 n = rayQueryGetIntersectionWorldToObjectEXT(q, true);
    for (int k = 0; k < 12; k++) {
        to.words[at + 6 + k] = floatBitsToUint(m[k / 3][k % 3]);
        to.words[at + 18 + k] = floatBitsToUint(n[k / 3][k % 3]);
    }
}
