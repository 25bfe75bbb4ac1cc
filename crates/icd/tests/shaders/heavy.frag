#version 450

// n multiplications, one after the other.
layout(push_constant) uniform Push { uint n; };
layout(location = 0) out vec4 colour;

void main() {
    float x = gl_FragCoord.x;
    for (uint i = 0; i < n; i++) {
        x = fma(x, 0.5, 1.0);
    }
    colour = vec4(x);
}
