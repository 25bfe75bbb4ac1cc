#version 450
// A value from before a loop that is read only on one of the ways out of it.
layout(location = 0) flat in int x;
layout(set = 0, binding = 0) uniform U { int n; int m; } u;
layout(location = 0) out ivec2 color;
void main() {
    int sum = 0, all = 0;
    for (int j = 0; j < 3; j++) {
        int result = j * 3 + 1;
        for (int i = 0; i < u.n; i++) {
            int k = i * 7 + j, h = k * k + i;
            if (x > h) sum += k; else sum -= h;
            if (k > u.m) { result = sum; break; }
        }
        all = all * 5 + result;
    }
    color = ivec2(all, sum);
}
