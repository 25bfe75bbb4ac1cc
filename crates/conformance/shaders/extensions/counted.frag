#version 450
#extension GL_ARB_fragment_shader_interlock : require
layout(pixel_interlock_unordered) in;
layout(set=0, binding=0) buffer B { int c[]; };
layout(location=0) out vec4 o;
void main(){
  int i = int(gl_FragCoord.y) * 8 + int(gl_FragCoord.x);
  beginInvocationInterlockARB();
  c[i] += 1;
  endInvocationInterlockARB();
  o = vec4(float(gl_SampleID + 1) / 5);
}
