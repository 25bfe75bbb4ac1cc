#version 450
// Forty words of a row change places: all are read before the first is written.
layout(local_size_x = 16) in;
struct Row { vec4 v[10]; };
layout(std430, binding = 0) buffer B { Row rows[]; };
void main()
{
    uint i = gl_LocalInvocationID.x;
    vec4 a0 = rows[i].v[0], a1 = rows[i].v[1], a2 = rows[i].v[2], a3 = rows[i].v[3], a4 = rows[i].v[4];
    vec4 a5 = rows[i].v[5], a6 = rows[i].v[6], a7 = rows[i].v[7], a8 = rows[i].v[8], a9 = rows[i].v[9];
    rows[i].v[0] = a9; rows[i].v[1] = a8; rows[i].v[2] = a7; rows[i].v[3] = a6; rows[i].v[4] = a5;
    rows[i].v[5] = a4; rows[i].v[6] = a3; rows[i].v[7] = a2; rows[i].v[8] = a1; rows[i].v[9] = a0;
}
