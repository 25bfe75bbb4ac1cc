#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x_id = 3, local_size_y_id = 4) in;
layout(constant_id = 7) const int N = 4;
layout(constant_id = 8) const bool flag = true;
const int M = N * 2 + (flag ? 1 : 3);
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { uint64_t next; vec3 v; mat2 m; int a[]; };
layout(push_constant) uniform P { Node root; uvec2 raw; };
shared int tmp[M];
void main() {
    Node n = root;
    int sum = 0;
    for (int k = 0; k < N; k++) {
        sum += n.a[int(gl_LocalInvocationIndex) - k];
        n.v *= 2.0;
        n.m[1] = n.v.xy;
        n = Node(n.next);
    }
    tmp[gl_LocalInvocationIndex % uint(M)] = sum;
    Node o = Node(raw);
    o.a[3] = tmp[0] + int(gl_WorkGroupSize.x);
    o.next = uint64_t(root);
    atomicAdd(o.a[gl_LocalInvocationIndex], 2);
}
