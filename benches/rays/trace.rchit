#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT vec2 hit;

void main() {
    hit = vec2(gl_HitTEXT, uintBitsToFloat(gl_PrimitiveID));
}
