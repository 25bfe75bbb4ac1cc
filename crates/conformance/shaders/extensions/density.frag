#version 450
#extension GL_EXT_fragment_invocation_density : require
layout(location = 0) out vec4 colour;
// Twice the middle of the fragment, its width · 16 + its height, and its invocations · 16 + how far the next one is, in 255ths.
void main(){ colour = vec4(gl_FragCoord.xy * 2, gl_FragSizeEXT.x * 16 + gl_FragSizeEXT.y,
  gl_FragInvocationCountEXT * 16 + dFdx(gl_FragCoord.x)) / 255; }
