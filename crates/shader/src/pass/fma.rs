//! Fusion of a multiplication with the addition that uses it, by a fixed rule on the IR as translated, so that the
//! bits depend on the SPIR-V alone (it runs first, and whether or not anything else is optimised):
//!
//! - `FAdd x y`: when `x` fuses → `Fma(x.0, x.1, y)`; else when `y` fuses → `Fma(y.0, y.1, x)`.
//! - `FSub x y`: when `x` fuses and `y` is a constant or an `FNeg` → `Fma(x.0, x.1, −y)`; else when `y` fuses and one
//!   of its operands is a constant or an `FNeg` → `Fma(−y.0, y.1, x)` with that operand negated.
//!
//! A value fuses when it is an `FMul` of the same block that live code reads once. Neither may be exact
//! (NoContraction), nor may the shader keep signed zeros, infinities and NaNs. A note of a debugged shader is no reader.

use crate::ir::{Bin, Inst, Shader, Tri, Ty, Un, Value, ValueData, ValueFlags};

pub fn fuse(shader: &mut Shader) {
    if shader.signed_zero_inf_nan {
        return;
    }
    if !shader.values.iter().any(|v| matches!(v.inst, Inst::Bin(Bin::FMul, ..))) {
        return;
    }
    let seen = super::dce::live_without_notes(shader);
    let mut block_of = vec![u32::MAX; shader.values.len()];
    for (b, block) in shader.blocks.iter().enumerate() {
        for v in &block.insts {
            block_of[v.0 as usize] = b as u32;
        }
    }
    for b in 0..shader.blocks.len() {
        for i in 0..shader.blocks[b].insts.len() {
            let v = shader.blocks[b].insts[i];
            let data = shader.data(v);
            let Inst::Bin(op @ (Bin::FAdd | Bin::FSub), x, y) = data.inst else { continue };
            if data.flags.exact || !seen[v.0 as usize].live {
                continue;
            }
            let factors = |m: Value| match shader.data(m) {
                ValueData {
                    inst: Inst::Bin(Bin::FMul, p, q),
                    flags: ValueFlags { exact: false, relaxed, .. },
                    ..
                } if seen[m.0 as usize].uses == 1 && block_of[m.0 as usize] == b as u32 => {
                    Some((*p, *q, *relaxed))
                }
                _ => None,
            };
            let (fx, fy) = (factors(x), factors(y));
            let fused = if op == Bin::FAdd {
                match (fx, fy) {
                    (Some((p, q, relaxed)), _) => Some((p, q, y, relaxed)),
                    (None, Some((p, q, relaxed))) => Some((p, q, x, relaxed)),
                    _ => None,
                }
            } else {
                let mut fused = None;
                if let Some((p, q, relaxed)) = fx {
                    fused = negated(shader, y).map(|n| (p, q, n, relaxed));
                }
                if fused.is_none()
                    && let Some((p, q, relaxed)) = fy
                {
                    fused = match (negated(shader, p), negated(shader, q)) {
                        (Some(n), _) => Some((n, q, x, relaxed)),
                        (None, Some(n)) => Some((p, n, x, relaxed)),
                        _ => None,
                    };
                }
                fused
            };
            if let Some((p, q, r, relaxed)) = fused {
                shader.values[v.0 as usize].inst = Inst::Tri(Tri::Fma, p, q, r);
                shader.values[v.0 as usize].flags.relaxed &= relaxed;
            }
        }
    }
}

/// −v where that costs nothing.
fn negated(shader: &mut Shader, v: Value) -> Option<Value> {
    let data = shader.data(v);
    match data.inst {
        Inst::Un(Un::FNeg, x) => Some(x),
        Inst::Const(bits) => {
            let ty = data.ty;
            let sign = if ty == Ty::B64 { 1 << 63 } else { 1 << 31 };
            shader.values.push(ValueData {
                inst: Inst::Const(bits ^ sign),
                ty,
                flags: ValueFlags::default(),
            });
            Some(Value(shader.values.len() as u32 - 1))
        }
        _ => None,
    }
}
