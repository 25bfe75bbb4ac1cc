#version 460
// Ends at once.
layout(local_size_x = 64) in;
void main() {
}
