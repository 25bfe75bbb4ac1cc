#version 450
layout(input_attachment_index=0, binding=0) uniform subpassInputMS i;
layout(location=0) out vec4 o;
// A weight for each sample: what is read is the sample's own value.
void main(){ o = subpassLoad(i, gl_SampleID) * (gl_SampleID == 1 ? 0.5 : 1.0); }
