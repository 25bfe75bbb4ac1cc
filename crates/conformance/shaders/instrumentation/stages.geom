#version 450
// Triangles with an even number stay.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
void main()
{
    if (gl_PrimitiveIDIn % 2 == 0)
        { gl_Position = gl_in[0].gl_Position; EmitVertex(); gl_Position = gl_in[1].gl_Position; EmitVertex(); gl_Position = gl_in[2].gl_Position; EmitVertex(); }
}
