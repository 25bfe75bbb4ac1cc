//! Drops blocks that no path reaches and phi entries of edges that are gone; block order is kept.

use crate::cfg::Cfg;
use crate::ir::{Block, Inst, Merge, Shader, Term};
use crate::options::Result;

pub fn prune(shader: &mut Shader) -> Result<()> {
    let cfg = Cfg::of(shader)?;
    let n = shader.blocks.len();
    let mut number = vec![0u32; n];
    let mut next = 0;
    for (b, at) in number.iter_mut().enumerate() {
        *at = next;
        next += cfg.reachable(b as u32) as u32;
    }
    let map = |b: Block| Block(number[b.0 as usize]);
    for b in 0..n {
        if !cfg.reachable(b as u32) {
            continue;
        }
        let block = &mut shader.blocks[b];
        for v in &block.insts {
            let Inst::Phi(sources) = &mut shader.values[v.0 as usize].inst else { break };
            sources.retain(|(p, _)| cfg.reachable(p.0) && cfg.succ[p.0 as usize].contains(&(b as u32)));
            sources.iter_mut().for_each(|s| s.0 = map(s.0));
        }
        block.term = match block.term {
            Term::Jump(t) => Term::Jump(map(t)),
            Term::Branch { cond, yes, no } => Term::Branch { cond, yes: map(yes), no: map(no) },
            Term::Return => Term::Return,
        };
        // A merge block that is gone leaves no construct to speak of.
        let alive = |b: Block| cfg.reachable(b.0);
        block.merge = match block.merge {
            Merge::Selection(m) if alive(m) => Merge::Selection(map(m)),
            Merge::Loop { merge, cont } if alive(merge) && alive(cont) => {
                Merge::Loop { merge: map(merge), cont: map(cont) }
            }
            _ => Merge::None,
        };
    }
    let mut b = 0;
    shader.blocks.retain(|_| {
        b += 1;
        cfg.reachable(b - 1)
    });
    Ok(())
}
