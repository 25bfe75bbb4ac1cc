#version 450
layout(location = 0) out vec4 colour;

void main() {
    float sum = 0;
    for (int i = 1; i < 20; i++) sum += sin(gl_FragCoord.x / i) * cos(gl_FragCoord.y / i);
    colour = vec4(sum, 1, 1, 1);
}
