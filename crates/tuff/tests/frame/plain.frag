#version 450
layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform Scene {
    vec4 tint;
    mat4 turn;
    int steps[2];
} scene;
layout(set = 0, binding = 1) uniform sampler2D grain;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < scene.steps[0]; i++) {
        if (i == 2) {
            continue;
        }
        sum += scene.turn * scene.tint * float(i);
    }
    result = colour * texture(grain, vec2(0.25)) + sum;
}
