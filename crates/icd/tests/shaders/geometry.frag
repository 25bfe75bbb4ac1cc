#version 450
// Four components of full precision and three of half, and nothing to compute.
layout(location = 0) in highp vec4 high;
layout(location = 1) in mediump vec3 low;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 more;
void main() {
    color = high;
    more = vec4(low, 1.0);
}
