// Nothing but a workgroup: one warp.
#version 450
layout(local_size_x = 16) in;
void main() {}
