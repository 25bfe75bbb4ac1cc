#version 450
// From x = -1 to `right`: by one triangle that covers more (vertices 0 to 2), or by a pair (vertices 3 to 8).
layout(push_constant) uniform P { float depth; float right; };
void main()
{
    vec2 c[9] = vec2[](vec2(-1, -1), vec2(3, -1), vec2(-1, 3),
        vec2(-1, -1), vec2(1, -1), vec2(-1, 1), vec2(-1, 1), vec2(1, -1), vec2(1, 1));
    vec2 p = c[gl_VertexIndex % 9];
    gl_Position = vec4(p.x < 0.0 ? p.x : right * p.x, p.y, depth, 1.0);
}
