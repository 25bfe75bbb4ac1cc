#version 450
// A position that takes two roundings down; four roots and three products besides, of which two attributes are needed.
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 high;
layout(location = 1) out vec3 low;
void main() {
    gl_Position = vec4(floor(position), 0.5, 1.0);
    high = inversesqrt(color);
    low = color.rgb * position.x;
}
