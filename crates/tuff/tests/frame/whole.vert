#version 450
// Covers everything at a depth; scissors cut it.
layout(location = 0) in vec4 place;
layout(location = 0) out vec4 colour;
layout(push_constant) uniform Push {
    vec4 colour;
    float depth;
} push;
void main() {
    gl_Position = vec4(place.xy, push.depth * place.w, place.w);
    colour = push.colour;
}
