#version 450

// Work for every arithmetic pipe, as often as asked for.
layout(push_constant) uniform Push { uint n; };
layout(location = 0) in vec4 passed;
layout(location = 0) out vec4 colour;

void main() {
    float x = passed.x;
    for (uint i = 0; i < n; i++) {
        x = sqrt(x) + floor(passed.y);
    }
    colour = vec4(x, passed.yzw);
}
