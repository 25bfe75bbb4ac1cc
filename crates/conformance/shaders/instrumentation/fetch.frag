#version 450
layout(set = 0, binding = 0) uniform sampler2D t;
layout(location = 0) out vec4 o;
void main()
{
    ivec2 p = ivec2(gl_FragCoord.xy);
    if (p.y < 32)
        o = texelFetch(t, p, 0);
    else
        o = vec4(1.0);
}
