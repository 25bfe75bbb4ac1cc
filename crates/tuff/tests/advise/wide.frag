#version 450
#ifdef HALF
#define P mediump
#else
#define P highp
#endif
layout(location = 0) in P vec4 a[8];
layout(location = 0) out vec4 colour;
void main() {
    colour = (a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7]) * 0.01;
}
