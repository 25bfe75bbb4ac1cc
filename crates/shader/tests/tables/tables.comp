#version 450
// Two constant arrays that are only read, and one of whose elements one changes.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer O { uint o[]; };
const uint words[32] = uint[](
    0u, 2654435761u, 1013904226u, 3668339987u, 2027808452u, 387276917u, 3041712678u, 1401181143u,
    4055616904u, 2415085369u, 774553834u, 3428989595u, 1788458060u, 147926525u, 2802362286u, 1161830751u,
    3816266512u, 2175734977u, 535203442u, 3189639203u, 1549107668u, 4203543429u, 2563011894u, 922480359u,
    3576916120u, 1936384585u, 295853050u, 2950288811u, 1309757276u, 3964193037u, 2323661502u, 683129967u);
const vec3 points[8] = vec3[](
    vec3(0, 0.5, -0), vec3(1, 1.5, -1), vec3(2, 2.5, -2), vec3(3, 3.5, -3),
    vec3(4, 4.5, -4), vec3(5, 5.5, -5), vec3(6, 6.5, -6), vec3(7, 7.5, -7));
void main() {
    uint i = gl_LocalInvocationIndex;
    uint changed[20] = uint[](100u, 101u, 102u, 103u, 104u, 105u, 106u, 107u, 108u, 109u, 110u, 111u, 112u, 113u, 114u, 115u, 116u, 117u, 118u, 119u);
    changed[i % 20u] = i;
    o[i] = words[i & 31u] + uint(points[i & 7u].y * 2.0) + changed[(i * 3u) % 20u];
}
