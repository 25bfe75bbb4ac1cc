#version 450
#extension GL_EXT_buffer_reference : require
// Types that need pointers to themselves: OpTypeForwardPointer, as a member and in an array.
layout(local_size_x = 16) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { Node next; Node kids[2]; uint value; };
layout(push_constant) uniform P { Node root; };
void main() {
    Node n = root;
    for (int k = 0; k < 3; k++) {
        n.kids[k & 1].value += n.value;
        n = n.next;
    }
}
