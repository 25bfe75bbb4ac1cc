#version 450
// Three vertices that hold the screen; uv is (column, row) / 16 at a pixel's corner.
layout(location = 0) out vec2 uv;
layout(location = 1) flat out uvec2 number;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect corner = (4.0, 0.0)
// expect uv = (4.0, 0.0)
// expect number = (1, 0)
// expect gl_VertexIndex = 1
// expect place = (7.0, -1.0, 0.5, 1.0)
void main() {
    vec2 corner = vec2((gl_VertexIndex & 1) * 4, (gl_VertexIndex & 2) * 2);
    uv = corner;
    number = uvec2(gl_VertexIndex, gl_InstanceIndex);
    vec4 place = vec4(corner * 2.0 - 1.0, 0.5, 1.0);
    o.w[200 + gl_VertexIndex] = floatBitsToUint(place.x);
    gl_Position = place;
}
