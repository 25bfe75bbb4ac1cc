#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16) in;
layout(buffer_reference, std430) buffer Word { uint x; };
layout(push_constant) uniform Push { Word word; uint n; };
void main() {
    if (gl_GlobalInvocationID.x < n) {
        word.x = n;
    }
}
