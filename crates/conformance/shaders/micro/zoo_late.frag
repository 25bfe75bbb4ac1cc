#version 450

// Depth that is known late, and components of half precision.
layout(location = 0) in mediump vec4 passed;
layout(location = 0) out vec4 colour;

void main() {
    colour = passed;
    gl_FragDepth = gl_FragCoord.z;
}
