vec3 sky(vec3 d, vec3 sun){
  float up=max(d.y,0.0);
  vec3 c=mix(vec3(0.82,0.80,0.78),vec3(0.16,0.36,0.72),pow(up,0.45));
  float s=max(dot(d,sun),0.0);
  return c+vec3(1.0,0.75,0.45)*(0.25*pow(s,8.0)+6.0*pow(s,900.0));
}
