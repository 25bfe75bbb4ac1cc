#version 460
#extension GL_EXT_ray_tracing : require
layout(shaderRecordEXT, std430) buffer Record { uint name; };
struct Payload { uint words[12]; };
layout(location = 0) rayPayloadInEXT Payload payload;

void main() {
    payload.words[0] = 2;
    payload.words[1] = name;
    payload.words[2] = floatBitsToUint(gl_RayTmaxEXT);
}
