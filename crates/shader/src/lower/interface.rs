//! What a program does that its stage needs to know, seen from the code as it is lowered.

use crate::bytecode::Reg;
use crate::interface::{DepthMode, FRAG_DEPTH, Interface, SAMPLE_MASK, STENCIL_REF, TILE_DEPTH};
use crate::ir::{Dim, ImageOp, Input, Inst, Shader, Stage};
use crate::isa::{Effect, effect};

/// The instruction changes memory that others see.
pub fn writes_memory(inst: &Inst) -> bool {
    effect(inst) == Effect::Memory
}

/// The lanes of a quad read each other.
fn reads_quad(inst: &Inst) -> bool {
    match inst {
        Inst::Quad(..) => true,
        Inst::Image(image) => match image.op {
            ImageOp::Sample => image.lod.is_none() && image.grad.is_empty(),
            ImageOp::QueryLod => true,
            _ => false,
        },
        _ => false,
    }
}

/// The facts of `shader`, of which the program reads `inputs`.
pub fn interface(shader: &Shader, inputs: &[(Input, Reg)]) -> Interface {
    let mut out = shader.interface.clone();
    if shader.stage.has_workgroups() {
        return out;
    }
    let read = |slot: u16| {
        inputs.iter().any(|(i, _)| match i {
            Input::Varying(s) | Input::PlaneAt(s) | Input::PlaneDx(s) | Input::PlaneDy(s) => *s == slot,
            _ => false,
        })
    };
    out.varyings.retain(|v| read(v.slot));
    let (mut depth, mut quads) = (false, false);
    for &v in shader.blocks.iter().flat_map(|b| &b.insts) {
        let inst = &shader.data(v).inst;
        out.writes_memory |= writes_memory(inst);
        quads |= reads_quad(inst);
        match inst {
            Inst::Demote => out.discards = true,
            Inst::Image(image) if image.dim == Dim::SubpassData => {
                out.reads_tile = true;
                out.reads_depth |= image.op == ImageOp::Read && image.component >= TILE_DEPTH;
            }
            Inst::Output { slot: FRAG_DEPTH, .. } => depth = true,
            Inst::Output { slot: STENCIL_REF, .. } => out.writes_stencil = true,
            Inst::Output { slot: SAMPLE_MASK, .. } => out.writes_sample_mask = true,
            _ => {}
        }
    }
    out.needs_quads = quads && shader.stage == Stage::Fragment;
    out.depth = match (depth, out.depth) {
        (false, _) => DepthMode::Unwritten,
        (true, DepthMode::Unwritten) => DepthMode::Any,
        (true, mode) => mode,
    };
    out
}
