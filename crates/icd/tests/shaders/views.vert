#version 450
#extension GL_EXT_multiview : require

// A box: all of the target in view 0, an eighth of each side in the others.
void main() {
    int i = gl_VertexIndex;
    vec2 corner = vec2(i == 1 || i == 2 || i == 4, i == 2 || i == 4 || i == 5);
    float side = gl_ViewIndex == 0 ? 2.0 : 0.25;
    gl_Position = vec4(corner * side - 1.0, 0.0, 1.0);
}
