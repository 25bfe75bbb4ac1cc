# Writes shaders of random arithmetic: python3 gen.py, in this folder.
import random
def gen(name,lines,seed,head,tail):
    random.seed(seed); L=[]
    L.append(head+", v1=v0.yzwx, v2=v0*0.5, v3=v1+0.25, v4=v2*v3, v5=vec4(0.1,0.2,0.3,0.4), v6=v0, v7=v1;")
    n=0; depth=0
    while n<lines:
        a,b,c,d=[random.randrange(8) for _ in range(4)]; r=random.random(); n+=1
        if r<.35: L.append(f"v{a}=v{b}*v{c}+v{d}.{random.choice(['yzwx','xxyy','wzyx','zwxy'])}*{random.random():.3f};")
        elif r<.5: L.append(f"v{a}=mix(v{b},v{c},clamp(v{d}.x,0.0,1.0));")
        elif r<.6: L.append(f"v{a}.xyz=normalize(v{b}.xyz+vec3(0.001))*dot(v{c},v{d});")
        elif r<.68: L.append(f"v{a}=fract(v{b}*{random.random()*3:.3f})+max(v{c},v{d});")
        elif r<.74: L.append(f"v{a}.x=sin(v{b}.y*{random.random():.3f})+exp(-abs(v{c}.z));")
        elif r<.78: L.append(f"v{a}.w=pow(abs(v{b}.y)+0.01,{1+random.random():.3f});")
        elif r<.86 and depth<3: L.append(f"if(v{a}.x>v{b}.y){{"); depth+=1
        elif r<.90 and depth<2: L.append(f"for(int k{n}=0;k{n}<3+int(id&3u);k{n}++){{"); depth+=1
        elif depth>0 and r<.97: L.append("}"); depth-=1
        else: L.append(f"v{a}=v{b}/(abs(v{c})+1.0)+v{d};")
    L+=["}"]*depth; L.append("vec4 s=v0+v1+v2+v3+v4+v5+v6+v7; "+tail)
    open(name,"w").write("\n".join(L))
KERNEL=("#version 450\nlayout(local_size_x=256) in;\nlayout(std430,set=0,binding=0) buffer O { float y[]; };\nlayout(std430,set=0,binding=1) readonly buffer X { float x[]; };\nvoid main(){ uint id=gl_GlobalInvocationID.x;\nvec4 v0=vec4(x[id&1023u],x[(id+1u)&1023u],x[(id+2u)&1023u],1.0)", "y[id&1023u]=s.x+s.y+s.z+s.w; }")
PICTURE=("#version 450\nlayout(location=0) in vec2 uv; layout(location=0) out vec4 o;\nvoid main(){ uint id=uint(gl_FragCoord.x);\nvec4 v0=vec4(uv,uv.x*uv.y,1.0)", "o=fract(abs(s)); }")
gen("kernels/med.comp",200,1,*KERNEL); gen("kernels/large.comp",1500,2,*KERNEL)
gen("pictures/small.frag",40,3,*PICTURE); gen("pictures/medium.frag",200,1,*PICTURE); gen("pictures/large.frag",1500,2,*PICTURE)
