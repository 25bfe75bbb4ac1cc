#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16) in;
layout(buffer_reference, std430) buffer Word { uint x; uint y; };
layout(push_constant) uniform Push { Word word; uint n; };
uint next(uint x) {
    if (x > 100) x = x * 3 + 1;
    return x / 2;
}
void main() {
    uint x = gl_GlobalInvocationID.x;
    x += next(x);
    x = x * 5;
    word.y = x;
    x = next(x);
}
