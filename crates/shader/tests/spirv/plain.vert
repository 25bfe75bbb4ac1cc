#version 450
// Outputs of all kinds: a matrix, blocks, arrays, partial and dynamically indexed writes, an early return, doubles.
layout(location = 0) in vec3 position;
layout(location = 1) in int number;
layout(location = 2) in dvec2 wide;
layout(set = 0, binding = 0) uniform U { mat4 m; } u;
layout(location = 0) out vec2 plain;
layout(location = 1) flat out int sum;
layout(location = 2) out Block { vec4 a; vec3 b[2]; } block;
layout(location = 5, component = 1) out vec2 shifted;
layout(location = 6) flat out dvec3 big;
layout(location = 8) out mat2 mat;
out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[3]; };
void main() {
    gl_Position = u.m * vec4(position, 1);
    gl_ClipDistance[1] = position.x - 1;
    gl_ClipDistance[number & 1] = 5;
    plain = position.xy * 2;
    plain.y += plain.x;
    sum = number + gl_VertexIndex * 100 + gl_InstanceIndex * 10000;
    shifted.y = 7;
    big = dvec3(wide, wide.x + wide.y);
    mat = mat2(1, 2, 3, position.z);
    if (number < 0) {
        block.a = vec4(1, 2, 3, 4);
        return;
    }
    block.b[number & 1].y = position.y;
}
