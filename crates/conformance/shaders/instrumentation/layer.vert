#version 450
#extension GL_ARB_shader_viewport_layer_array : require
// A triangle that covers more than the target, in the layer that the push constant says.
layout(push_constant) uniform P { int layer; int unused; };
void main()
{
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0);
    gl_Layer = layer;
}
