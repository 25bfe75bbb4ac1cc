// work.frag that writes the depth that the fragment has anyway.
#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
void main() {
    vec4 c = vec4(uv, 0.25, 0.75);
    for (int i = 0; i < 12; i++)
        c = c * vec4(0.9, 0.8, 0.7, 0.6) + c.yzwx * 0.25;
    gl_FragDepth = gl_FragCoord.z;
    colour = vec4(c.rgb, 1.0);
}
