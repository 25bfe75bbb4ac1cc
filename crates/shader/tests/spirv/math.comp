#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { vec4 v[]; };
void main() {
    uint k = gl_GlobalInvocationID.x;
    vec4 x = v[k], y = v[k + 1u];
    precise vec4 p = x * y + x;
    int e; vec4 r = vec4(frexp(x.x, e));
    float whole; r.y += modf(x.y, whole) + whole;
    r += ldexp(x, ivec4(e)) + mix(x, y, 0.25) + clamp(x, y, y + 1.0) + step(x, y) + smoothstep(x, y, vec4(0.5));
    r += pow(abs(x), y) + exp2(x) + log2(y) + sin(x) + cos(y) + tan(x) + asin(x) + acos(y) + atan(x, y) + atan(x);
    r += sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(x) + atanh(x) + exp(x) + log(y) + sqrt(x) + inversesqrt(y);
    r.xyz += cross(x.xyz, y.xyz) + reflect(x.xyz, y.xyz) + refract(x.xyz, y.xyz, 0.7) + faceforward(x.xyz, y.xyz, r.xyz);
    r.w += length(x) + distance(x, y) + dot(x, y) + normalize(x).w + sign(y.z) + floor(x.x) + ceil(x.y) + round(x.z) + roundEven(x.w) + trunc(y.x);
    r += mod(x, y) + radians(x) + degrees(y) + min(x, y) + max(x, y) + vec4(isnan(x)) + vec4(isinf(y)) + fma(x, y, r);
    r *= outerProduct(x, y) * transpose(mat4(x, y, r, x));
    v[k] = r + p;
}
