#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect v = (5.0, 19.0, 2.0, 3.0)
// expect s = (2.0, 1.0, 5.0)
// expect s.zx = (5.0, 2.0)
// expect v[1] = 19.0
// expect d = 19.0
// expect t = (false, true)
// expect k = (-5, 6)
void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 v = vec4(i, 1, 2, 3);
    vec3 s = v.zyx;
    float d = dot(s, vec3(1, 2, 3));
    v.y = d;
    bvec2 t = lessThan(s.xy, vec2(1.5));
    ivec2 k = ivec2(-int(i), i + 1u);
    o.w[i] = floatBitsToUint(v.y);
    o.w[16 + i] = uint(t.x) + 2u * uint(t.y);
    o.w[32 + i] = uint(k.x + k.y);
}
