#version 450

// Eight components of half precision.
layout(location = 0) in mediump vec4 first;
layout(location = 1) in mediump vec4 second;
layout(location = 0) out vec4 colour;

void main() {
    colour = first + second;
}
