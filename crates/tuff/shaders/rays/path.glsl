#include "../sky.glsl"

// What lies in memory of a path.
struct Path {
    vec3 origin;
    uint kind;
    vec3 direction;
    // Of the first surface.
    float depth;
    vec3 normal;
    vec3 base;
    // What light is worth that the path finds from now on.
    vec3 through;
    // Light that is drawn as it is, and light that falls on the first surface from other surfaces and the sky.
    vec3 direct;
    vec3 indirect;
};
// Kinds of paths: still at the camera or only mirrored since; scattered by the first surface; scattered after a mirror.
const uint DIRECT = 0u, SMOOTH = 1u, SHARP = 2u, ENDED = 3u;

const vec3 SUN = vec3(2.3, 1.9, 1.4);

// As city::frame() writes it.
layout(buffer_reference, std430) readonly buffer Frame { mat4 view; mat4 light; vec4 eye; vec4 sun; vec4 right; vec4 down; vec4 forward; };
// Ten words a vertex: position, normal, texture coordinates, kind, tint.
layout(buffer_reference, std430) readonly buffer Vertices { float list[]; };
layout(buffer_reference, std430) readonly buffer Indices { uint list[]; };
layout(buffer_reference, std430) buffer Paths { Path list[]; };
layout(buffer_reference, std430) buffer Counts { uint list[]; };
layout(buffer_reference, std430) writeonly buffer Pixels { uint list[]; };
layout(push_constant) uniform Push {
    uvec2 scene;
    Frame frame;
    Vertices vertices;
    Indices indices;
    Paths paths;
    Counts counts;
    Pixels pixels;
    uvec2 size;
    uint samples;
    uint bounce;
};
