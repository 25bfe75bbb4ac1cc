// A mesh: positions and texture coordinates; x is shifted by what is pushed.
#version 450
layout(push_constant) uniform Push { float shift; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 coordinates;
layout(location = 0) out vec2 uv;
void main() {
    uv = coordinates;
    gl_Position = vec4(position.x + shift, position.yz, 1.0);
}
