#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT vec2 hit;

void main() {
    hit = vec2(-1.0, 0.0);
}
