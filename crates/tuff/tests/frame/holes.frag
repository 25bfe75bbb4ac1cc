#version 450
layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 result;
void main() {
    if ((int(gl_FragCoord.x) & 1) != 0) {
        discard;
    }
    result = colour;
}
