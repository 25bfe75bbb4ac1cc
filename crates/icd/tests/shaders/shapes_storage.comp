#version 450
// Every shape of a storage image, of which the test gives all the same view.
layout(local_size_x = 64) in;
layout(binding = 0, r32f) uniform image1D a;
layout(binding = 1, rgba8) uniform image1DArray b;
layout(binding = 2, rgba32f) uniform image2D c;
layout(binding = 3, rgba16f) uniform image2DArray d;
layout(binding = 4, r32f) uniform image3D e;
layout(binding = 5, rgba8) uniform imageCube f;
layout(binding = 6, rgba32f) uniform imageCubeArray g;
layout(binding = 7, r32ui) uniform uimage1D h;
layout(binding = 8, rgba32i) uniform iimage2D i;
layout(binding = 9, r32ui) uniform uimage2D j;
layout(binding = 10, r32i) uniform iimage3D k;
layout(binding = 11, r32ui) uniform uimage2DArray l;
layout(binding = 12, r32ui) uniform uimageCube m;
layout(binding = 13, rgba8ui) uniform uimageCubeArray n;
layout(binding = 14, std430) buffer Out { vec4 o[]; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    uint bits = id * 2654435761u;
    ivec3 t = ivec3(bits & 31u, bits >> 6 & 31u, bits >> 12 & 15u);
    if (id % 4u == 1u) {
        t = ivec3(bits, bits * 3u, bits * 5u);
    } else if (id % 4u == 2u) {
        t = ivec3(-1, 0x7fffffff, -0x7fffffff - 1);
    }
    vec4 v = vec4(t, 1.0);
    vec4 s = imageLoad(a, t.x) + imageLoad(b, t.xy) + imageLoad(c, t.xy) + imageLoad(d, t) + imageLoad(e, t);
    s += imageLoad(f, t) + imageLoad(g, t) + vec4(imageLoad(h, t.x)) + vec4(imageLoad(i, t.xy)) + vec4(imageLoad(j, t.xy));
    s += vec4(imageLoad(k, t)) + vec4(imageLoad(l, t)) + vec4(imageLoad(m, t)) + vec4(imageLoad(n, t));
    imageStore(a, t.x, v);
    imageStore(b, t.xy, v);
    imageStore(c, t.xy, v);
    imageStore(d, t, v);
    imageStore(e, t, v);
    imageStore(f, t, v);
    imageStore(g, t, v);
    imageStore(h, t.x, uvec4(bits));
    imageStore(i, t.xy, ivec4(bits));
    imageStore(n, t, uvec4(bits));
    uint sum = imageAtomicAdd(h, t.x, bits) + imageAtomicMax(j, t.xy, bits) + uint(imageAtomicMin(k, t, int(bits)));
    sum += imageAtomicExchange(l, t, bits) + imageAtomicCompSwap(m, t, bits, id);
    s.x += float(sum) + float(imageSize(a));
    s.xy += vec2(imageSize(b) + imageSize(c) + imageSize(f));
    s.xyz += vec3(imageSize(d) + imageSize(e) + imageSize(g));
    o[id] = s;
}
