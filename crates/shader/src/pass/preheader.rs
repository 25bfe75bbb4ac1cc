//! Gives every loop a block before it that leads nowhere else.

use crate::cfg::{Cfg, NONE};
use crate::ir::{Block, BlockData, Inst, Merge, Shader, Term, Value, ValueData, ValueFlags};
use crate::options::Result;

/// The preheader of each loop of `cfg`, if it has one.
pub fn preheaders(cfg: &Cfg) -> Vec<u32> {
    let of = |first: u32| {
        let mut forward = cfg.preds(first).iter().filter(|p| **p < first);
        match (forward.next(), forward.next()) {
            (Some(p), None) if cfg.succ[*p as usize][1] == NONE => *p,
            _ => NONE,
        }
    };
    cfg.loops.iter().map(|l| of(l.first)).collect()
}

/// Inserts what is missing.
pub fn insert(shader: &mut Shader) -> Result<()> {
    let cfg = Cfg::of(shader)?;
    let missing: Vec<u32> =
        cfg.loops.iter().zip(preheaders(&cfg)).filter(|(_, p)| *p == NONE).map(|(l, _)| l.first).collect();
    if missing.is_empty() {
        return Ok(());
    }
    // Number of a block, and of the one inserted before it.
    let shift = |b: u32| missing.partition_point(|m| *m <= b) as u32;
    let number: Vec<u32> = (0..shader.blocks.len() as u32).map(|b| b + shift(b)).collect();
    let map = |b: Block| Block(number[b.0 as usize]);
    let old = std::mem::take(&mut shader.blocks);
    for (b, mut block) in old.into_iter().enumerate() {
        let b = b as u32;
        if missing.binary_search(&b).is_ok() {
            let pre = Block(number[b as usize] - 1);
            let mut insts = vec![];
            for v in &block.insts {
                let ty = shader.ty(*v);
                let Inst::Phi(sources) = &mut shader.values[v.0 as usize].inst else { break };
                let forward: Vec<(Block, Value)> = sources.iter().copied().filter(|s| s.0.0 < b).collect();
                sources.retain(|s| s.0.0 >= b);
                // Sources are renumbered below; the new one already has its number.
                let source = match forward[..] {
                    [(_, one)] => one,
                    _ => {
                        let new = Value(shader.values.len() as u32);
                        let inst = Inst::Phi(forward.iter().map(|s| (map(s.0), s.1)).collect());
                        shader.values.push(ValueData { inst, ty, flags: ValueFlags::default() });
                        insts.push(new);
                        new
                    }
                };
                let Inst::Phi(sources) = &mut shader.values[v.0 as usize].inst else { break };
                sources.iter_mut().for_each(|s| s.0 = map(s.0));
                sources.push((pre, source));
            }
            let origin = block.origin;
            shader.blocks.push(BlockData {
                insts,
                term: Term::Jump(Block(pre.0 + 1)),
                merge: Merge::None,
                origin,
            });
        } else {
            for v in &block.insts {
                let Inst::Phi(sources) = &mut shader.values[v.0 as usize].inst else { break };
                sources.iter_mut().for_each(|s| s.0 = map(s.0));
            }
        }
        // Edges into such a header go to its preheader, but for the back edge.
        let aim = |t: Block| {
            if t.0 > b && missing.binary_search(&t.0).is_ok() {
                Block(number[t.0 as usize] - 1)
            } else {
                map(t)
            }
        };
        block.term = match block.term {
            Term::Jump(t) => Term::Jump(aim(t)),
            Term::Branch { cond, yes, no } => Term::Branch { cond, yes: aim(yes), no: aim(no) },
            Term::Return => Term::Return,
        };
        block.merge = match block.merge {
            Merge::None => Merge::None,
            Merge::Selection(m) => Merge::Selection(aim(m)),
            Merge::Loop { merge, cont } => Merge::Loop { merge: aim(merge), cont: map(cont) },
        };
        shader.blocks.push(block);
    }
    Ok(())
}
