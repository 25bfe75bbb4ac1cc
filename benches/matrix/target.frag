#version 450
// A colour of its own for each pixel. KIND: 0 of floats, 1 of unsigned numbers, 2 of signed ones.
#if KIND == 1
#define OF(type) u##type
#elif KIND == 2
#define OF(type) i##type
#else
#define OF(type) type
#endif
layout(location = 0) in vec2 uv;
layout(location = 0) out OF(vec4) colour;
void main() { colour = OF(vec4)(vec4(uv, uv.x * uv.y, 0.5) * SCALE); }
