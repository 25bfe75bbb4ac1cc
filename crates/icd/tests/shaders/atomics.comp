#version 450
// Every integer atomic of GLSL once a thread: eleven.
layout(local_size_x = 40) in;
shared uint u;
shared int s;
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(u, i);
    atomicMin(u, i);
    atomicMax(u, i);
    atomicAnd(u, i);
    atomicOr(u, i);
    atomicXor(u, i);
    atomicExchange(u, i);
    atomicCompSwap(u, i, i + 1u);
    atomicAdd(s, int(i));
    atomicMin(s, int(i));
    atomicMax(s, int(i));
}
