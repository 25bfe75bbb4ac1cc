#version 450
// Reads nothing of a vertex.
layout(location = 0) out vec4 color;
void main() {
    color = vec4(0.25);
}
