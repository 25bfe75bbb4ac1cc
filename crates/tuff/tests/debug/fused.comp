#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Out { uint w[256]; } o;
// One rounding where there would be two: x² is 1 + 2⁻¹¹ + 2⁻²⁴, of which a float loses the end, and the sum's is 2⁻²⁴.
// expect x = 1.0002441
// expect s = 5.9604645e-8
// expect p = 1.0004883
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = 1.0 + float(i - 4u) * 0.000244140625;
    float s = x * x - 1.00048828125;
    float p = x * x;
    o.w[i] = floatBitsToUint(s);
}
