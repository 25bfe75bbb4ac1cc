#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// expect x = 6
// expect y = 12
// expect z = 18
// expect q = 1
int twice(inout int x) {
    x += 1;
    return x * 2;
}
int both(int a) {
    int b = twice(a);
    return a + b;
}
int early(int a) {
    if (a > 4) {
        return 1;
    }
    int k = a + 1;
    return k * 10;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    int x = int(i);
    int y = twice(x);
    int z = both(int(i));
    int q = early(int(i));
    o.w[i] = uint(y + z);
    o.w[16 + i] = uint(q);
}
