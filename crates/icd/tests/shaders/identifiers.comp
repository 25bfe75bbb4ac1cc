// A shader of its own, that no other test has.
#version 450
layout(local_size_x = 16) in;
shared uint words[77];
void main() {
    words[gl_LocalInvocationIndex] = gl_LocalInvocationIndex;
}
