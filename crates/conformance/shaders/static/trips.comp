#version 450
// Two multiply–adds a trip, as many trips as memory says and at least one.
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer Out { float result[]; };
layout(std430, binding = 1) readonly buffer A { float a[]; };
layout(std430, binding = 2) readonly buffer N { int trips[]; };
void main()
{
    uint i = gl_LocalInvocationID.x;
    float x = a[i];
    int n = trips[i], k = 0;
    do {
        x = fma(x, x, 1.0);
        x = fma(x, x, 2.0);
        k++;
    } while (k < n);
    result[i] = x;
}
