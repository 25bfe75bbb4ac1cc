#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=32, local_size_y=4) in;
uint collatz(uint n){ uint c=0u; while(n>1u){ if(c>300u) return 999u; n=(n&1u)==0u?n>>1:3u*n+1u; c++; } return c; }
void main(){
 uint i=gl_GlobalInvocationID.y*(gl_NumWorkGroups.x*32u)+gl_GlobalInvocationID.x; uint v=x[i]; uint s=0u;
 for(uint a=0u;a<(v&15u);a++){ if((a^v)%5u==3u) continue;
  for(uint b=a;b<20u;b++){ if(b*a>(v>>4&127u)) break; s+=b*3u+a; if((s&1023u)==77u) break; }
  if(s>4000u) break; }
 switch(v%7u){ case 0u: s+=1u; case 1u: s*=3u; break; case 2u: s^=0x55u; break; case 5u: if((v&64u)!=0u) { s+=5u; break; } s-=9u; default: s+=100u; }
 uint d=0u; do { d+=v&3u; v>>=2; } while(v!=0u);
 if(d>30u){ o[i]=d; return; }
 o[i]=s*1000u+d+collatz((x[i]&0xffffu)+1u);
}
