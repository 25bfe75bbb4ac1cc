#version 450
#extension GL_GOOGLE_include_directive : require
#include "sky.glsl"
layout(set=0,binding=0) uniform Frame { mat4 view; mat4 light; vec4 eye; vec4 sun; };
layout(set=0,binding=1) uniform sampler2DArray detail;
layout(set=0,binding=2) uniform sampler2DShadow shadows;
layout(location=0) in vec3 world; layout(location=1) in vec3 facing; layout(location=2) in vec3 surface; layout(location=3) in vec3 colour;
layout(location=0) out vec4 o;
// Share of sun: four filtered comparisons about the point.
float sunlight(vec3 n){
  vec4 p=light*vec4(world+n*0.06,1.0); vec2 uv=p.xy*0.5+0.5; float sum=0.0;
  for(int k=0;k<4;k++){ vec2 s=vec2(k&1,k>>1)-0.5; sum+=texture(shadows,vec3(uv+s*1.2/2048.0,p.z-0.0012)); }
  return sum*0.25;
}
void main(){
  vec3 n=normalize(facing), toEye=normalize(eye.xyz-world); float kind=surface.z, gloss=0.0; vec3 base;
  if(kind<0.5){
    vec3 grass=texture(detail,vec3(surface.xy,0.0)).rgb*vec3(0.36,0.48,0.17), rock=texture(detail,vec3(surface.xy*0.7,1.0)).rgb*vec3(0.55,0.50,0.45);
    vec3 sand=vec3(0.76,0.68,0.47)*texture(detail,vec3(surface.xy*2.0,1.0)).r*1.2, snow=vec3(0.95,0.97,1.0);
    base=mix(rock,grass,smoothstep(0.78,0.90,n.y)); base=mix(sand,base,smoothstep(-0.55,-0.15,world.y)); base=mix(base,snow,smoothstep(7.5,9.5,world.y+3.0*(n.y-0.8)));
  } else if(kind<1.5){
    vec4 t=texture(detail,vec3(surface.xy,2.0)); base=t.rgb*colour; gloss=1.0-t.a;
    base=mix(base,sky(reflect(-toEye,n),sun.xyz)*0.6+0.02,gloss*0.6);
  } else if(kind<2.5){ base=texture(detail,vec3(surface.xy,0.0)).rgb*colour*1.3; }
  else if(kind<3.5){
    base=texture(detail,vec3(surface.xy,3.0)).rgb*colour; gloss=0.6; float f=0.06+0.6*pow(1.0-max(dot(n,toEye),0.0),4.0);
    base=mix(base,sky(reflect(-toEye,n),sun.xyz),f);
  } else {
    vec2 a=texture(detail,vec3(world.xz*0.11,1.0)).rg-0.5, b=texture(detail,vec3(world.zx*0.29,0.0)).rg-0.5;
    n=normalize(vec3((a+b).x*0.16,1.0,(a-b).y*0.16)); float f=0.03+0.9*pow(1.0-max(dot(n,toEye),0.0),4.0);
    base=mix(vec3(0.02,0.12,0.16),sky(reflect(-toEye,n),sun.xyz),f); gloss=1.0;
  }
  float s=sunlight(normalize(facing)), d=max(dot(n,sun.xyz),0.0)*s;
  vec3 h=normalize(toEye+sun.xyz);
  vec3 lightSum=vec3(1.35,1.18,0.95)*d+mix(vec3(0.20,0.17,0.14),vec3(0.30,0.38,0.52),n.y*0.5+0.5);
  vec3 c=(kind>3.5?base*(0.35+0.65*lightSum):base*lightSum)+gloss*s*vec3(1.0,0.85,0.6)*pow(max(dot(n,h),0.0),60.0);
  float far=length(world-eye.xyz); vec3 haze=sky(normalize(vec3(-toEye.x,0.02,-toEye.z)),vec3(0.0,-1.0,0.0));
  c=mix(c,haze,1.0-exp(-far*far*0.00009));
  c=c/(1.0+0.25*c); o=vec4(pow(clamp(c,0.0,1.0),vec3(1.0/2.2)),1.0);
}
