#version 450
layout(location=0) in vec2 uv; layout(location=0) out vec4 o;
void main(){ uint id=uint(gl_FragCoord.x);
vec4 v0=vec4(uv,uv.x*uv.y,1.0), v1=v0.yzwx, v2=v0*0.5, v3=v1+0.25, v4=v2*v3, v5=vec4(0.1,0.2,0.3,0.4), v6=v0, v7=v1;
v3=fract(v2*0.197)+max(v5,v7);
v0=v7*v4+v3.zwxy*0.541;
v7=fract(v6*2.604)+max(v2,v3);
v6.w=pow(abs(v0.y)+0.01,1.591);
v4.xyz=normalize(v0.xyz+vec3(0.001))*dot(v4,v7);
v6=v6/(abs(v6)+1.0)+v7;
v2=v5*v1+v0.xxyy*0.258;
v6.xyz=normalize(v4.xyz+vec3(0.001))*dot(v6,v6);
if(v6.x>v3.y){
v2=fract(v5*2.964)+max(v1,v3);
v4=mix(v4,v1,clamp(v1.x,0.0,1.0));
v7=mix(v1,v5,clamp(v1.x,0.0,1.0));
v2.w=pow(abs(v0.y)+0.01,1.873);
v0.xyz=normalize(v0.xyz+vec3(0.001))*dot(v6,v5);
v4=v3*v0+v4.yzwx*0.600;
v0=fract(v3*0.469)+max(v6,v4);
}
v6=fract(v6*1.787)+max(v7,v6);
v1=v4/(abs(v6)+1.0)+v3;
v6=v4*v4+v5.zwxy*0.987;
v5=v0*v6+v2.wzyx*0.466;
v5.xyz=normalize(v4.xyz+vec3(0.001))*dot(v7,v0);
v0=v5*v4+v7.wzyx*0.177;
v2=v5*v5+v4.zwxy*0.105;
v0=fract(v2*0.808)+max(v4,v3);
v5=v2*v6+v1.wzyx*0.949;
v3=v7*v2+v1.xxyy*0.885;
v7=v4*v3+v1.xxyy*0.315;
if(v2.x>v4.y){
v5.xyz=normalize(v2.xyz+vec3(0.001))*dot(v6,v4);
v4=v7*v5+v6.zwxy*0.036;
v6=mix(v2,v3,clamp(v0.x,0.0,1.0));
if(v6.x>v3.y){
if(v4.x>v5.y){
v4=v1*v3+v0.xxyy*0.897;
v6.w=pow(abs(v0.y)+0.01,1.172);
v4=v3*v0+v6.yzwx*0.341;
v4=v7*v0+v5.yzwx*0.535;
}
v2=v0*v7+v6.wzyx*0.248;
}
}
vec4 s=v0+v1+v2+v3+v4+v5+v6+v7; o=fract(abs(s)); }