#version 450
layout(local_size_x = 16) in;
struct Light { vec3 at; float power; };
layout(binding = 0) buffer Out { uint w[256]; } o;
layout(std430, binding = 1) readonly buffer Lights { Light all[4]; } lights;
layout(std430, binding = 2) readonly buffer Numbers { float n[]; } numbers;
// Word k of buffer 1 is the float k; of buffer 2 a quarter of it.
// expect l = ((4.0, 5.0, 6.0), 7.0)
// expect q = 1.25
// expect p = 7.0
void main() {
    uint i = gl_GlobalInvocationID.x;
    Light l = lights.all[i & 3u];
    float q = numbers.n[i];
    float p = lights.all[1].power;
    o.w[i] = floatBitsToUint(l.at.x + q);
    o.w[16 + i] = floatBitsToUint(l.power);
}
