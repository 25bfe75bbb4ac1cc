#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT vec4 hit;
hitAttributeEXT vec2 corners;

void main() {
    hit = vec4(gl_HitTEXT, uintBitsToFloat(gl_PrimitiveID), corners);
}
