// Situations of the tests of GPU-assisted validation (tests/unit/gpu_av*.cpp of Vulkan-ValidationLayers), by CASE.
#version 450
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 32) in;
struct S { uint x, y; };
struct Row { vec4 v; mat2 m; };
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uvec4 c[256]; uint beyond[8]; };
layout(set = 0, binding = 2) buffer D { Row rows[128]; Row more[2]; };
shared uint one;
shared uint many[32];
shared uint plane[32][2];
shared S pair;
shared uvec4 vector;
shared uvec4 vectors[32];
shared uint first, second;
#ifdef FAULT
#define MEET
#define BAD true
#else
#define MEET barrier()
#define BAD false
#endif
uint i = gl_LocalInvocationIndex;
uint zero() { return a[0]; }
void put(uint k) { many[k] = k; }
uint take(uint k) { return many[(k + 1) % 32]; }
void main() {
#if CASE == 1
    if (BAD) one = i; else atomicStore(one, i, gl_ScopeWorkgroup, 0, 0);
#elif CASE == 2
    many[i] = i;
    MEET;
    b[i] = many[i ^ 1];
#elif CASE == 3
    plane[i][0] = i;
    plane[i][1] = i;
    barrier();
    plane[i][0] = i + 1;
    b[i] = plane[(i + 1) % 32][BAD ? 0 : 1];
#elif CASE == 4
    if (i == 0) pair.x = 1; else if (i == 1) pair.y = 2;
    MEET;
    if (i == 0) pair.y = 3; else if (i == 1) pair.x = 4;
#elif CASE == 5
    if (i == 0) pair = S(5, 6);
    MEET;
    if (i == 1) b[0] = pair.y;
#elif CASE == 6
    if (i == 0) vector = uvec4(7);
    MEET;
    if (i == 1) b[0] = vector.z;
#elif CASE == 7
    if (i == 0) first = 1; else if (i == 1) second = 2;
    MEET;
    if (i == 1) first = 3; else if (i == 0) second = 4;
#elif CASE == 8
    vectors[i] = uvec4(i);
    MEET;
    uvec4 sum = uvec4(0);
    for (uint k = 0; k < 32; k++) sum += vectors[k];
    b[i] = sum.x;
#elif CASE == 9
    if (i == 0) one = 0;
    barrier();
    atomicAdd(one, 1);
    MEET;
    if (i == 1) b[0] = one;
#elif CASE == 10
    put(i);
    MEET;
    b[i] = take(i);
#elif CASE == 11
    many[BAD ? i / 2 : i] = i;
#elif CASE == 12
    b[i] = i / (BAD ? zero() : zero() + 1);
#elif CASE == 13
    ivec2 q = ivec2(int(i), 8) / ivec2(BAD ? int(zero()) : 2, 4);
    b[i] = uint(q.x + q.y);
#elif CASE == 14
    b[i] = i % (BAD ? zero() : zero() + 3);
#elif CASE == 15
    b[i] = floatBitsToUint(mod(float(i), BAD ? float(zero()) : 3.0));
#elif CASE == 16
    b[i] = floatBitsToUint(pow(BAD ? -1.0 - float(zero()) : 1.0 + float(zero()), 0.5));
#elif CASE == 17
    b[i + (BAD ? 1000 : 0)] = i;
#elif CASE == 18
    if (i < 8) b[i] = BAD ? beyond[i] : c[i].z;
#elif CASE == 19
    b[i] = floatBitsToUint(BAD ? more[i & 1].m[1].y : rows[0].m[1].y);
#elif CASE == 20
    Row copy = BAD ? more[0] : rows[1];
    b[i] = floatBitsToUint(copy.v.x + copy.m[0].x);
#elif CASE == 21
    b[i] = atomicExchange(a[BAD ? 1024 + i : i], 7);
#elif CASE == 22
    b[i] = atomicAdd(a[BAD ? 1024 : i], 1);
#elif CASE == 23
    uint all = 0;
    for (uint k = 0; k < (BAD ? 33 : 32); k++) all += a[992 + k];
    b[i] = all;
#elif CASE == 24
    many[i] = i;
    barrier();
    uint mine = many[i];
    many[i] = BAD ? many[(i + 1) % 32] : mine + 1;
    b[i] = many[i];
#endif
}
