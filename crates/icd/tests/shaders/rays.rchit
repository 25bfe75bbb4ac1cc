#version 460
#extension GL_EXT_ray_tracing : require
layout(push_constant) uniform Push { uvec2 scene; };
layout(shaderRecordEXT, std430) buffer Record {
    uint name;
    // 0, or 1 and the offset of the records of a ray on from the hit.
    uint deeper;
};
struct Payload { uint words[12]; };
layout(location = 0) rayPayloadInEXT Payload payload;
layout(location = 1) rayPayloadEXT Payload inner;
hitAttributeEXT vec2 found;

void main() {
    payload.words[0] = 1;
    payload.words[1] = name;
    payload.words[2] = floatBitsToUint(gl_HitTEXT);
    payload.words[3] = gl_HitKindEXT;
    payload.words[4] = gl_PrimitiveID | gl_GeometryIndexEXT << 8 | gl_InstanceID << 16;
    payload.words[5] = gl_InstanceCustomIndexEXT;
    payload.words[8] = floatBitsToUint(found.x);
    payload.words[9] = floatBitsToUint(found.y);
    vec3 o = gl_ObjectRayOriginEXT;
    payload.words[10] = floatBitsToUint(o.x);
    payload.words[11] = floatBitsToUint(o.z);
    if (deeper != 0) {
        vec3 at = gl_WorldRayOriginEXT + gl_HitTEXT * gl_WorldRayDirectionEXT;
        // The same way again, beyond the hit.
        traceRayEXT(accelerationStructureEXT(scene), gl_RayFlagsOpaqueEXT, 0xFF, deeper - 1, 1, 0, at, 0.25, gl_WorldRayDirectionEXT, 9.0, 1);
        payload.words[7] = inner.words[1];
    }
}
