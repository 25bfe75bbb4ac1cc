// A branch, a loop, a switch, a function and a part that never runs; tests/coverage.rs says how often each line runs.
#version 450
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };

uint halved(uint n) {
    return n / 2;
}

uint never(uint n) {
    return n * 3;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint n = a[i];
    uint steps = 0;
    while (n > 0) {
        n = halved(n);
        steps++;
    }
    if (i >= 12) {
        steps += 100;
    }
    if (i > 5000) {
        steps = never(steps);
    } else {
        b[i] = steps;
    }
    switch (i & 3) {
    case 0:
        b[i] += 1;
        break;
    case 1:
        b[i] += 2;
        break;
    default:
        b[i] += 3;
    }
}
