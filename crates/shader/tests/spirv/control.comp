#version 450
// Loops with several exits, early returns from inlined functions, switches that fall through, do-while, nested breaks.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { int a[]; };
int early(int n) {
    for (int i = 0; i < n; i++) {
        if (a[i] == 7) return i;
        for (int j = 0; j < 4; j++) {
            if (a[i + j] == 9) return j;
            if (a[i + j] == 5) break;
            if (a[i + j] == 3) continue;
            a[i + j] += 1;
        }
    }
    return -1;
}
int pick(int x) {
    int r = 0;
    switch (x & 7) {
    case 0: r += 1;
    case 1: r += 2; break;
    case 2: return 17;
    case 3:
    case 4: r = 9; break;
    case 5: for (int k = 0; k < x; k++) { if (k == 3) break; r += k; }
    default: r -= 1;
    }
    return r;
}
void main() {
    int i = int(gl_GlobalInvocationID.x);
    int n = 0;
    do {
        n += early(i & 3);
        if (n > 100) break;
    } while (n < i);
    while (true) {
        n += pick(i);
        if (n > 1000) return;
        if ((n & 1) == 0) continue;
        if (n < 0) break;
        n++;
    }
    a[i] = n;
}
