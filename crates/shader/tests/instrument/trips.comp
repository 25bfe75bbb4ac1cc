#version 450
// A loop whose trip count is read: element i runs it i % 7 times; odd sums take a branch; a function is called twice.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { uint result[]; };
layout(std430, binding = 1) readonly buffer In { uint trips[]; };

uint twist(uint x)
{
    if (x > 9u)
        return x ^ 5u;
    return x + 1u;
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint sum = 0u;
    for (uint k = 0u; k < trips[i]; ++k)
        sum += k * 3u + i;
    if ((sum & 1u) == 1u)
        sum = twist(sum);
    result[i] = twist(sum);
}
