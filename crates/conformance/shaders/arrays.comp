#version 450
layout(std430,set=0,binding=0) buffer O { uint o[]; };
layout(std430,set=0,binding=1) readonly buffer I { uint x[]; };
layout(local_size_x=48) in;
void main(){
 uint i=gl_GlobalInvocationID.x; uint a[16];
 for(int k=0;k<16;k++) a[k]=x[i*16u+uint(k)]%1000u;
 for(int k=1;k<16;k++){ uint v=a[k]; int j=k-1; while(j>=0&&a[j]>v){ a[j+1]=a[j]; j--; } a[j+1]=v; }
 for(int k=0;k<16;k++) o[i*16u+uint(k)]=a[k];
}
