#version 450

// A colour that is discarded nowhere, though nobody knows.
layout(push_constant) uniform Push { uint what; uint n; };
layout(location = 0) out vec4 colour;

void main() {
    if (gl_FragCoord.x < 0.0) {
        discard;
    }
    colour = vec4(0.25);
}
