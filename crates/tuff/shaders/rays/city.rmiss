#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT vec4 hit;

void main() {
    hit = vec4(-1.0, 0.0, 0.0, 0.0);
}
