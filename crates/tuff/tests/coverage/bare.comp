// No line information is made for this shader.
#version 450
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };

void main() {
    a[gl_GlobalInvocationID.x] = 0;
}
