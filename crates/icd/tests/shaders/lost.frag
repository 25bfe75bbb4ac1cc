#version 460
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430) buffer Word { uint x; };
layout(push_constant) uniform Push { Word word; uint n; };
void main() {
    for (uint i = 0; i < n; i++) {
        word.x = i;
    }
}
