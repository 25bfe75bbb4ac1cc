#version 460
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 colour;
// Twice the middle of the fragment, its rate, and how far the next one is, in 255ths.
void main(){ colour = vec4(gl_FragCoord.xy * 2, gl_ShadingRateEXT, dFdx(gl_FragCoord.x)) / 255; }
