//! Descriptors' addresses are the one thing in a shader that is a real address and never checked again where it is used.
//! So nothing else may become one: it is a descriptor's own, or a choice (phi, select) among those. What a program did not
//! give a pointer or image (OpUndef, OpConstantNull, a variable without a value) is the null descriptor; anything else that
//! is used as one (a number through a cast or a phi of the wrong type) is an error, and so is one that is used as a number.

use crate::ir::*;
use crate::options::{Error, Result};

/// How often phis are gone through until they are known: loops in loops.
const ROUNDS: u32 = 32;

fn wrong(what: &str) -> Error {
    Error::Invalid { word: 0, what: what.into() }
}

/// The places in an instruction that are a descriptor's.
fn places(inst: &mut Inst) -> [Option<&mut Value>; 2] {
    match inst {
        Inst::Load { place: Place::Buffer { desc, .. }, .. }
        | Inst::Store { place: Place::Buffer { desc, .. }, .. }
        | Inst::Atomic { place: Place::Buffer { desc, .. }, .. }
        | Inst::BufferSize { desc } => [Some(desc), None],
        Inst::Image(i) => [Some(&mut i.image), i.sampler.as_mut()],
        _ => [None, None],
    }
}

/// Which values are descriptors' addresses.
fn known(shader: &Shader) -> Result<Vec<bool>> {
    let mut is = vec![false; shader.values.len()];
    for _ in 0..ROUNDS {
        let (mut open, mut more) = (false, false);
        for &v in shader.blocks.iter().flat_map(|b| &b.insts) {
            if is[v.0 as usize] {
                continue;
            }
            let data = shader.data(v);
            let (now, phi) = match &data.inst {
                Inst::Descriptor { .. } => (true, false),
                Inst::Phi(args) if data.ty == Ty::B64 => (args.iter().any(|(_, a)| is[a.0 as usize]), true),
                Inst::Tri(Tri::Select, _, a, b) => (is[a.0 as usize] || is[b.0 as usize], false),
                _ => continue,
            };
            is[v.0 as usize] = now;
            // What comes later may make a phi one.
            open |= phi && !now;
            more |= now;
        }
        if !(open && more) {
            return Ok(is);
        }
    }
    Err(Error::TooLarge("pointers through loops nested too deeply".into()))
}

pub(super) fn settle(shader: &mut Shader) -> Result<()> {
    let is = known(shader)?;
    let none = Value(shader.values.len() as u32 + 1);
    let mut missing = false;
    for b in 0..shader.blocks.len() {
        for k in 0..shader.blocks[b].insts.len() {
            let v = shader.blocks[b].insts[k];
            let mut inst = std::mem::replace(&mut shader.values[v.0 as usize].inst, Inst::Const(0));
            let mut settled = |o: &mut Value| {
                if is[o.0 as usize] {
                    return Ok(());
                }
                // A slot that nothing was put in is 0.
                if !matches!(shader.values[o.0 as usize].inst, Inst::Const(0)) || *o == v {
                    return Err(wrong("what is no descriptor is used as one"));
                }
                missing = true;
                *o = none;
                Ok(())
            };
            match &mut inst {
                Inst::Phi(args) if is[v.0 as usize] => {
                    args.iter_mut().try_for_each(|(_, a)| settled(a))?;
                }
                Inst::Tri(Tri::Select, _, x, y) if is[v.0 as usize] => {
                    settled(x)?;
                    settled(y)?;
                }
                // Pointers are compared.
                Inst::Bin(Bin::IEq | Bin::INe, ..) | Inst::Phi(_) | Inst::Descriptor { .. } => {}
                inst => {
                    let own = places(inst)
                        .into_iter()
                        .flatten()
                        .map(|o| settled(o).map(|()| 1))
                        .sum::<Result<usize>>()?;
                    let mut all = 0;
                    crate::isa::operands(inst, |o| all += is.get(o.0 as usize).is_none_or(|i| *i) as usize);
                    if all > own {
                        return Err(wrong("a descriptor is used as a number"));
                    }
                }
            }
            shader.values[v.0 as usize].inst = inst;
        }
    }
    if missing {
        let data = |inst, ty| ValueData { inst, ty, flags: ValueFlags::default() };
        let index = Value(none.0 - 1);
        shader.values.push(data(Inst::Const(0), Ty::B32));
        let inst = Inst::Descriptor { set: NOWHERE, binding: 0, index, texels: false };
        shader.values.push(data(inst, Ty::B64));
        shader.blocks[0].insts.splice(0..0, [index, none]);
    }
    Ok(())
}
