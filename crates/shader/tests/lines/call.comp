#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Floats { float v[]; };
layout(push_constant) uniform Push { Floats floats; };
float cheap(float x) {
    if (x > 3.0) x += 1.0;
    return x;
}
float either(float x) {
    if (x > 9.0) return cheap(x) + floats.v[7];
    return x;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    float y = cheap(floats.v[i]);
    y = either(y);
    floats.v[i] = pow(abs(y), 2.2) + sin(y) + exp(y) + inversesqrt(y);
    for (uint k = 0; k < i; k++) {
        floats.v[k + 64] = cheap(y);
    }
}
