#version 450
layout(location = 0) out vec4 o;
void main()
{
    o = vec4(dFdx(gl_FragCoord.x * gl_FragCoord.y), fwidth(gl_FragCoord.y), 0.0, 1.0);
}
