#version 450
layout(location = 0) in vec4 passed;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Push { vec4 scale; };
layout(set = 0, binding = 1) uniform Data { vec4 add; };
void main() {
    color = fma(passed, scale, add);
}
