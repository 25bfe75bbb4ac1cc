#version 450
// Odd numbers are tripled, even ones doubled: two blocks that differ.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Numbers { uint numbers[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint n = numbers[i];
    if (n % 2 == 1) {
        numbers[i] = n * 3;
    } else {
        numbers[i] = n * 2;
    }
}
