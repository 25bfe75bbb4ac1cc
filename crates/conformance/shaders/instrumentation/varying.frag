#version 450
// Four components above, two below; what is flat is not interpolated.
layout(location = 0) in vec4 a;
layout(location = 1) in vec2 b;
layout(location = 2) flat in vec3 c;
layout(location = 0) out vec4 o;
void main()
{
    if (gl_FragCoord.y < 32.0)
        o = a;
    else
        o = vec4(b, c.xy);
}
