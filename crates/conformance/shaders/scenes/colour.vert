#version 450
#extension GL_EXT_multiview : require
layout(push_constant) uniform P { float pointSize; float perView; };
layout(location=0) in vec4 p; layout(location=1) in vec4 c; layout(location=0) out vec4 oc;
// Instances stand in rows of four, half a target apart; each view is shifted.
void main(){ gl_Position=p; gl_Position.xy+=vec2(gl_InstanceIndex&3,gl_InstanceIndex>>2)*0.5*p.w; gl_Position.x+=float(gl_ViewIndex)*perView*p.w; gl_PointSize=pointSize; oc=c; }
