// A mesh whose positions take some work.
#version 450
layout(push_constant) uniform Push { float shift; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 coordinates;
layout(location = 0) out vec2 uv;
void main() {
    uv = coordinates;
    vec3 p = position;
    for (int i = 0; i < 24; i++)
        p = p + 0.0001 * sin(p.yzx * 7.0 + float(i));
    gl_Position = vec4(p.x + shift, p.yz, 1.0);
}
