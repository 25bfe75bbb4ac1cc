#version 450
// Lanes that end in a loop, in a function, and at the top; values before and after.
layout(location = 0) flat in int n;
layout(set = 0, binding = 0) buffer B { uint hits[]; };
layout(location = 0) out vec2 color;
layout(location = 1) out ivec2 steps;
void deep(int i) { if (i == 3) discard; color.y += 1; }
void main() {
    color = vec2(0.5, 0);
    steps = ivec2(n);
    if (n == 0) discard;
    for (int i = 0; i < n; i++) {
        if (i == 7 && (n & 1) == 1) discard;
        if (n == 20 && i == 2) { steps.y = 99; return; }
        if (i >= 3) { color.x += 1; continue; }
        deep(i + (n == 6 ? 1 : 0));
    }
    hits[n] = 5;
}
