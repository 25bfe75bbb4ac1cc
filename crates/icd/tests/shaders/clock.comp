#version 450
#extension GL_EXT_shader_realtime_clock : require
#extension GL_ARB_gpu_shader_int64 : require

// n multiplications, one after the other, between two readings of the device's clock.
layout(local_size_x = 16) in;
layout(push_constant) uniform Push { uint n; };
layout(set = 0, binding = 0) buffer Out { uint passed; uint low; uint high; float result; };

void main() {
    float x = float(gl_LocalInvocationIndex);
    uint64_t began = clockRealtimeEXT();
    for (uint i = 0; i < n; i++) {
        x = fma(x, 0.5, 1.0);
    }
    uint64_t ended = clockRealtimeEXT();
    if (gl_LocalInvocationIndex == 0) {
        passed = uint(ended - began);
        low = uint(began);
        high = uint(began >> 32);
        result = x;
    }
}
