#version 450
// Which lanes go where is in `key`; the memory paths are chosen by whole warps.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { uint result[]; };
layout(std430, binding = 1) readonly buffer Key { uint key[]; };
layout(std430, binding = 2) buffer Data { uint data[]; };
layout(constant_id = 7) const bool never = false;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint k = key[i];
    uint r = i;
    if ((k & 1u) != 0u)
        r ^= k * 3u;
    for (uint n = 0u; n < (k >> 1 & 3u); ++n)
        r = r * 5u + n;
    if ((k & 16u) != 0u)
        r += data[i];
    if ((k & 32u) != 0u)
        r += data[i * 16u];
    if ((k & 64u) != 0u)
        r += data[i & ~15u];
    if ((k & 128u) != 0u)
        data[i * 4u + 16384u] = r;
    if (never)
        r += 11u;
    result[i] = r;
}
