//! Descriptors' addresses are the one thing in a shader that is a real address and never checked again where it is used.
//! So nothing else may become one: it is a descriptor's own, or a choice (phi, select) among those. What a program did not
//! give a pointer or image (OpUndef, OpConstantNull, a variable without a value) is the null descriptor; anything else that
//! is used as one (a number through a cast or a phi of the wrong type) is an error, and so is one that is used as a number.

use crate::ir::*;
use crate::options::{Error, Result};

/// How often phis are gone through until they are known: loops in loops.
const ROUNDS: u32 = 32;

const NUMBER: &str = "a descriptor is used as a number";

fn wrong(what: &str) -> Error {
    Error::Invalid { word: 0, what: what.into() }
}

/// The places in an instruction that are a descriptor's.
fn places(inst: &mut Inst) -> [Option<&mut Value>; 2] {
    match inst {
        Inst::Load { place: Place::Buffer { desc, .. }, .. }
        | Inst::LoadRows { place: Place::Buffer { desc, .. }, .. }
        | Inst::Store { place: Place::Buffer { desc, .. }, .. }
        | Inst::StoreRows { place: Place::Buffer { desc, .. }, .. }
        | Inst::Atomic { place: Place::Buffer { desc, .. }, .. }
        | Inst::BufferSize { desc }
        | Inst::BufferAddress { desc }
        | Inst::Structure { desc } => [Some(desc), None],
        Inst::Image(i) => [Some(&mut i.image), i.sampler.as_mut()],
        _ => [None, None],
    }
}

/// Which values are descriptors' addresses.
pub(crate) fn known(shader: &Shader) -> Result<Vec<bool>> {
    let mut is = vec![false; shader.values.len()];
    if !shader.values.iter().any(|v| matches!(v.inst, Inst::Descriptor { .. })) {
        return Ok(is);
    }
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
            // Most need no change.
            let has = |o: &Value| is[o.0 as usize];
            let number = match &shader.values[v.0 as usize].inst {
                Inst::Const(_) | Inst::Input(_) | Inst::Part(..) => continue,
                Inst::Descriptor { index, .. } => has(index),
                // Pointers are compared.
                Inst::Bin(Bin::IEq | Bin::INe, ..) => continue,
                Inst::Un(_, x) => has(x),
                Inst::Bin(_, x, y) => has(x) || has(y),
                Inst::Tri(_, x, y, z) if !has(&v) => has(x) || has(y) || has(z),
                Inst::Phi(_) if !has(&v) => continue,
                Inst::Load { place: Place::Buffer { desc, addr }, .. } if has(desc) => has(addr),
                _ => {
                    missing |= change(shader, v, &is, none)?;
                    continue;
                }
            };
            if number {
                return Err(wrong(NUMBER));
            }
        }
    }
    if missing {
        let data = |inst, ty| ValueData { inst, ty, flags: ValueFlags::default() };
        let index = Value(none.0 - 1);
        shader.values.push(data(Inst::Const(0), Ty::B32));
        let inst = Inst::Descriptor { source: DescriptorSource::Null, index, texels: false };
        shader.values.push(data(inst, Ty::B64));
        shader.blocks[0].insts.splice(0..0, [index, none]);
    }
    Ok(())
}

/// Puts the null descriptor where nothing stands for one; true: somewhere.
fn change(shader: &mut Shader, v: Value, is: &[bool], none: Value) -> Result<bool> {
    let mut inst = std::mem::replace(&mut shader.values[v.0 as usize].inst, Inst::Const(1));
    let mut missing = false;
    let mut settled = |o: &mut Value| {
        if is[o.0 as usize] {
            return Ok(1);
        }
        // A slot that nothing was put in is 0.
        if !matches!(shader.values[o.0 as usize].inst, Inst::Const(0)) {
            return Err(wrong("what is no descriptor is used as one"));
        }
        missing = true;
        *o = none;
        Ok(1)
    };
    match &mut inst {
        Inst::Phi(args) => args.iter_mut().try_for_each(|(_, a)| settled(a).map(|_| ()))?,
        Inst::Tri(_, _, x, y) if is[v.0 as usize] => _ = settled(x)? + settled(y)?,
        inst => {
            let own = places(inst).into_iter().flatten().map(settled).sum::<Result<u32>>()?;
            let mut all = 0;
            crate::isa::operands(inst, |o| all += is.get(o.0 as usize).is_none_or(|i| *i) as u32);
            if all > own {
                return Err(wrong(NUMBER));
            }
        }
    }
    shader.values[v.0 as usize].inst = inst;
    Ok(missing)
}
