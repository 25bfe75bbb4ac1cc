#version 450
// Every way that a binding is mapped to a heap, each read into a word.
layout(local_size_x = 1) in;
layout(set = 3, binding = 5) buffer Out { uint words[]; };
layout(set = 3, binding = 6) readonly buffer In { uint numbers[]; } ins[2];
layout(set = 0, binding = 0) uniform Pushed { uvec2 pushed; };
layout(set = 0, binding = 1) uniform Addressed { uint addressed; };
layout(set = 0, binding = 2) uniform InHeap { uint in_heap; };
layout(set = 0, binding = 3) uniform Indirect { uint indirect; };
layout(set = 1, binding = 0) uniform sampler2D picture;
void main() {
    words[0] = ins[0].numbers[1];
    words[1] = ins[1].numbers[1];
    words[2] = pushed.x;
    words[3] = pushed.y;
    words[4] = addressed;
    words[5] = in_heap;
    words[6] = indirect;
    // Beyond the edge: the border.
    vec4 c = textureLod(picture, vec2(2.0), 0.0);
    words[7] = floatBitsToUint(c.x);
    words[8] = floatBitsToUint(c.y);
}
