#version 450
// All ways out of a block: switch with fall-through, discard, return within a loop, selection without else.
layout(location = 0) in flat int which;
layout(location = 1) in vec4 colour;
layout(location = 0) out vec4 o;
void main()
{
    vec4 c = colour;
    switch (which) {
    case 1:
        c.x += 1.0;
    case 2:
        c.y *= 2.0;
        break;
    case 3:
        discard;
    default:
        c.z = which > 5 ? c.x : c.y;
    }
    do {
        c *= 0.5;
        if (c.w < 0.125) {
            o = vec4(0.0);
            return;
        }
    } while (c.x > 1.0);
    o = c;
}
