#version 450

// Eight components.
layout(location = 0) in vec4 first;
layout(location = 1) in vec4 second;
layout(location = 0) out vec4 colour;

void main() {
    colour = first + second;
}
