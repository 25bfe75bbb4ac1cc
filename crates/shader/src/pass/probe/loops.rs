//! Loops that never end: an iteration that leaves all as it was is followed by another like it. That is certain where a loop depends on nothing
//! but what its header's phis say.

use super::shadow::Shadows;
use crate::ir::*;

impl Shadows<'_> {
    /// Of each loop that depends on its own state alone, by the block with its back edge: its header.
    pub(super) fn closed_loops(&self) -> Vec<(usize, usize)> {
        let s = &*self.shader;
        let headers = (0..s.blocks.len()).filter(|h| matches!(s.blocks[*h].merge, Merge::Loop { .. }));
        let found = headers.filter_map(|h| {
            let back = (h..s.blocks.len()).find(|b| {
                let mut leads = false;
                s.blocks[*b].term.each_successor(|to| leads |= to.0 as usize == h);
                leads
            })?;
            let closed =
                s.blocks[h..=back].iter().flat_map(|b| &b.insts).all(|v| is_closed(&s.data(*v).inst));
            (closed && !self.counts(h)).then_some((back, h))
        });
        found.collect()
    }

    /// Whether a loop has a counter that every iteration changes by a constant: its state is never that of the iteration before.
    fn counts(&self, header: usize) -> bool {
        let s = &*self.shader;
        s.blocks[header].insts.iter().any(|&v| {
            let Inst::Phi(sources) = &s.data(v).inst else { return false };
            let step = |next: Value| match s.data(next).inst {
                Inst::Bin(Bin::IAdd, a, b) if a == v => s.as_const(b),
                Inst::Bin(Bin::IAdd, a, b) if b == v => s.as_const(a),
                Inst::Bin(Bin::ISub, a, b) if a == v => s.as_const(b),
                _ => None,
            };
            let mut back = sources.iter().filter(|(from, _)| from.0 as usize >= header);
            back.clone().next().is_some() && back.all(|(_, next)| step(*next).is_some_and(|c| c != 0))
        })
    }

    /// At the end of a loop's last block: the probe that tells where its state is the old one.
    pub(super) fn turn(&mut self, header: usize) {
        let s = &*self.shader;
        let mut pairs = vec![];
        for &v in &s.blocks[header].insts {
            let Inst::Phi(sources) = &s.data(v).inst else { continue };
            // Shadows are no state of the loop's.
            if (v.0 as usize) < self.may_len() {
                let back = sources.iter().find(|(from, _)| from.0 as usize >= header);
                pairs.extend(back.map(|(_, next)| (v, *next)));
            }
        }
        let origin = std::mem::replace(&mut self.origin, self.shader.blocks[header].origin);
        let mut same = self.push(Inst::Const(1), Ty::Bool);
        for (old, next) in pairs.into_iter().filter(|(old, next)| old != next) {
            let alike = match self.shader.ty(old) {
                Ty::Bool => {
                    let differs = self.bin(Bin::BXor, old, next, Ty::Bool);
                    self.push(Inst::Un(Un::BNot, differs), Ty::Bool)
                }
                _ => self.bin(Bin::IEq, old, next, Ty::Bool),
            };
            same = self.bin(Bin::BAnd, same, alike, Ty::Bool);
        }
        let [born, zero] = [self.birth(Undefined::Unchanged), self.word(0)];
        let shadow = self.select(same, born, zero);
        self.fault(Decides::End, shadow, None, 4);
        self.origin = origin;
    }
}

/// Whether the result follows from the operands, and nothing is done that another iteration might see.
fn is_closed(inst: &Inst) -> bool {
    match inst {
        Inst::Const(_)
        | Inst::Input(_)
        | Inst::Un(..)
        | Inst::Bin(..)
        | Inst::Tri(..)
        | Inst::Phi(_)
        | Inst::Part(..)
        | Inst::Descriptor { .. }
        | Inst::BufferSize { .. }
        | Inst::BufferAddress { .. }
        | Inst::Mark(_)
        | Inst::Resume(_)
        | Inst::Probe { op: ProbeOp::Read | ProbeOp::Write | ProbeOp::Fault, .. } => true,
        Inst::Load { place: Place::Push { .. }, .. } => true,
        Inst::Load { flags, .. } => flags.read_only,
        Inst::Store { place, .. } => !matches!(place, Place::Scratch { .. }),
        _ => false,
    }
}
