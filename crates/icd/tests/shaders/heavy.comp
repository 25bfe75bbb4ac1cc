#version 450

// n multiplications, one after the other; their result is stored if it is one that it never is.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint n; };
layout(set = 0, binding = 0) buffer Out { float result; };

void main() {
    float x = float(gl_LocalInvocationIndex);
    for (uint i = 0; i < n; i++) {
        x = fma(x, 0.5, 1.0);
    }
    if (x == -1.0) {
        result = x;
    }
}
