#version 450
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { uint u[16]; int i[16]; uint64_t w[16]; int64_t x[16]; float f[16]; double d[4]; };
shared uint s;
shared float sf;
void main() {
    uint k = gl_LocalInvocationIndex & 15u;
    if (gl_LocalInvocationIndex == 0u) { s = 0u; sf = 0.0; }
    barrier();
    u[k] = atomicAdd(s, 1u) + atomicMax(u[0], k) + atomicCompSwap(u[1], 3u, k) + atomicExchange(u[2], k) + atomicXor(u[3], k);
    i[k] = atomicMin(i[0], int(k)) + atomicMax(i[1], -int(k));
    w[k] = atomicAdd(w[0], 5ul) + atomicOr(w[1], 1ul << k);
    x[k] = atomicMin(x[0], int64_t(k)) + atomicCompSwap(x[1], 0l, 4l);
    f[k] = atomicAdd(f[0], 0.5) + atomicMin(f[1], float(k)) + atomicAdd(sf, 1.0);
    d[k & 3u] = atomicAdd(d[0], 1.5);
    atomicStore(u[4], atomicLoad(u[5], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire), gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    memoryBarrierShared();
}
