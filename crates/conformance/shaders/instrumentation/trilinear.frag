#version 450
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) out vec4 o;
void main()
{
    // Between the levels 0 and 1.
    o = textureLod(t, gl_FragCoord.xy / 64.0, 0.5);
}
