//! What every pass needs to know of an instruction: its operands and what it does besides giving a value.

use crate::ir::{Inst, Place, Value};

/// Calls `f` for each operand, phi sources included.
pub fn operands(inst: &Inst, mut f: impl FnMut(Value)) {
    match inst {
        Inst::Const(_)
        | Inst::Input(_)
        | Inst::Barrier
        | Inst::MemoryBarrier
        | Inst::Clock
        | Inst::Demote
        | Inst::Mark(_)
        | Inst::IsHelper => {}
        Inst::Un(_, a)
        | Inst::Part(a, _)
        | Inst::Ballot(a)
        | Inst::First(a)
        | Inst::Quad(_, a)
        | Inst::Descriptor { index: a, .. }
        | Inst::BufferSize { desc: a }
        | Inst::Reduce { value: a, .. }
        | Inst::Output { value: a, .. } => f(*a),
        Inst::Bin(_, a, b) | Inst::Shuffle(a, b) => {
            f(*a);
            f(*b);
        }
        Inst::Tri(_, a, b, c) => {
            f(*a);
            f(*b);
            f(*c);
        }
        Inst::Phi(sources) => sources.iter().for_each(|s| f(s.1)),
        Inst::Load { place, .. } => place_operands(place, f),
        Inst::Store { place, values, .. } => {
            place_operands(place, &mut f);
            values.iter().for_each(|v| f(*v));
        }
        Inst::Atomic { place, a, b, .. } => {
            place_operands(place, &mut f);
            f(*a);
            b.iter().for_each(|v| f(*v));
        }
        Inst::Image(image) => {
            f(image.image);
            let lists = [&image.coords, &image.grad, &image.offsets, &image.data];
            lists.iter().for_each(|l| l.iter().for_each(|v| f(*v)));
            let singles = [image.sampler, image.dref, image.lod, image.bias, image.sample, image.min_lod];
            singles.iter().flatten().for_each(|v| f(*v));
        }
    }
}

fn place_operands(place: &Place, mut f: impl FnMut(Value)) {
    match place {
        Place::Buffer { desc, addr } => {
            f(*desc);
            f(*addr);
        }
        Place::Global { addr } | Place::Shared { addr } | Place::Scratch { addr } | Place::Push { addr } => {
            f(*addr)
        }
    }
}

/// Calls `f` for each operand to change it in place, phi sources included.
pub fn operands_mut(inst: &mut Inst, mut f: impl FnMut(&mut Value)) {
    match inst {
        Inst::Const(_)
        | Inst::Input(_)
        | Inst::Barrier
        | Inst::MemoryBarrier
        | Inst::Clock
        | Inst::Demote
        | Inst::Mark(_)
        | Inst::IsHelper => {}
        Inst::Un(_, a)
        | Inst::Part(a, _)
        | Inst::Ballot(a)
        | Inst::First(a)
        | Inst::Quad(_, a)
        | Inst::Descriptor { index: a, .. }
        | Inst::BufferSize { desc: a }
        | Inst::Reduce { value: a, .. }
        | Inst::Output { value: a, .. } => f(a),
        Inst::Bin(_, a, b) | Inst::Shuffle(a, b) => {
            f(a);
            f(b);
        }
        Inst::Tri(_, a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
        Inst::Phi(sources) => sources.iter_mut().for_each(|s| f(&mut s.1)),
        Inst::Load { place, .. } => place_operands_mut(place, f),
        Inst::Store { place, values, .. } => {
            place_operands_mut(place, &mut f);
            values.iter_mut().for_each(f);
        }
        Inst::Atomic { place, a, b, .. } => {
            place_operands_mut(place, &mut f);
            f(a);
            b.iter_mut().for_each(f);
        }
        Inst::Image(image) => {
            f(&mut image.image);
            for list in [&mut image.coords, &mut image.grad, &mut image.offsets, &mut image.data] {
                list.iter_mut().for_each(&mut f);
            }
            let singles = [
                &mut image.sampler,
                &mut image.dref,
                &mut image.lod,
                &mut image.bias,
                &mut image.sample,
                &mut image.min_lod,
            ];
            singles.into_iter().flatten().for_each(f);
        }
    }
}

fn place_operands_mut(place: &mut Place, mut f: impl FnMut(&mut Value)) {
    match place {
        Place::Buffer { desc, addr } => {
            f(desc);
            f(addr);
        }
        Place::Global { addr } | Place::Shared { addr } | Place::Scratch { addr } | Place::Push { addr } => {
            f(addr)
        }
    }
}

/// The instruction must be kept even when nobody reads its result.
pub fn has_effect(inst: &Inst) -> bool {
    match inst {
        Inst::Store { .. }
        | Inst::Atomic { .. }
        | Inst::Barrier
        | Inst::MemoryBarrier
        | Inst::Demote
        | Inst::Mark(_)
        | Inst::Output { .. } => true,
        // An address outside memory is a fault that the application may count on seeing.
        Inst::Load { flags, .. } => flags.volatile,
        Inst::Image(image) => {
            matches!(image.op, crate::ir::ImageOp::Write | crate::ir::ImageOp::Atomic(_))
        }
        _ => false,
    }
}

/// The result depends on the operands alone (not on memory, other lanes or the place in the program), so that equal
/// ones may be merged and the instruction be moved or executed speculatively. Read-only loads that cannot fault count.
pub fn is_movable(inst: &Inst) -> bool {
    match inst {
        Inst::Const(_)
        | Inst::Input(_)
        | Inst::Un(..)
        | Inst::Bin(..)
        | Inst::Tri(..)
        | Inst::Descriptor { .. }
        | Inst::BufferSize { .. } => true,
        Inst::Load { place, flags, .. } => {
            flags.read_only && !flags.volatile && matches!(place, Place::Buffer { .. } | Place::Push { .. })
        }
        _ => false,
    }
}
