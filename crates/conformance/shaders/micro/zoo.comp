#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// Many values at once, in half of the lanes longer than in the others, and halves.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { vec4 words[]; };

void main() {
    uint id = gl_GlobalInvocationID.x;
    vec4 a = words[id], b = words[id + 64], c = words[id + 128], d = words[id + 192], e = words[id + 256];
    vec4 f = words[id + 320], g = words[id + 384], h = words[id + 448], i = words[id + 512], j = words[id + 576];
    barrier();
    vec4 sum = j * i + h;
    sum = sum * g + f;
    sum = sum * e + d;
    sum = sum * c + b;
    sum = sum * a + j;
    float x = sum.x + sum.y + sum.z + sum.w;
    if ((id & 1) == 0) {
        for (uint n = 0; n < id % 16; n++) {
            x = sqrt(x) + 1.0;
        }
    }
    f16vec2 two = f16vec2(x, x + 1.0);
    two = two * two + two;
    words[2 * id] = vec4(x + float(two.x) + float(two.y));
}
