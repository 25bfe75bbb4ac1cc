#version 450
layout(local_size_x = 512) in;
layout(binding = 0) buffer Out { uint w[]; } o;
shared uint s[512];
// Several waves meet at the barrier.
// expect mine = 25
// expect other = 256036
void main() {
    uint i = gl_LocalInvocationIndex;
    uint mine = i * i;
    s[i] = mine;
    barrier();
    uint other = s[511u - i];
    if (i < 256u) {
        o.w[i] = other;
    }
}
