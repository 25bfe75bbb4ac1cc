// Four textures, read side by side.
#version 450
layout(set = 0, binding = 0) uniform sampler2D a;
layout(set = 0, binding = 1) uniform sampler2D b;
layout(set = 0, binding = 2) uniform sampler2D c;
layout(set = 0, binding = 3) uniform sampler2D d;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
void main() { colour = texture(a, uv) + texture(b, uv) + texture(c, uv) + texture(d, uv); }
