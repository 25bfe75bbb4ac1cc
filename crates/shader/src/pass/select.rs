//! Small ifs become selects: arms of at most four cheap operations in all, no memory.

use crate::cfg::Cfg;
use crate::ir::{Block, Inst, Merge, Shader, Term, Tri, Ty, Value, ValueData, ValueFlags};
use crate::isa::facts;
use crate::options::Result;

const MOST_OPS: usize = 4;
const MOST_PHIS: usize = 4;

fn cheap(inst: &Inst) -> bool {
    matches!(inst, Inst::Const(_) | Inst::Input(_)) || facts(inst).is_some_and(|f| f.cheap)
}

/// Runs the pass. True when blocks became unreachable.
pub fn select(shader: &mut Shader) -> Result<bool> {
    let cfg = Cfg::of(shader)?;
    let mut changed = false;
    // Inner ifs first: their heads come later in block order.
    for h in (0..shader.blocks.len()).rev() {
        let Term::Branch { cond, yes, no } = shader.blocks[h].term else { continue };
        if yes == no {
            continue;
        }
        // An arm: the block that only `h` leads to and what follows it, or straight to the merge block.
        let arm = |shader: &Shader, b: Block| -> Option<Block> {
            let block = shader.block(b);
            match block.term {
                Term::Jump(m) if cfg.preds(b.0) == [h as u32] && m > b && block.merge == Merge::None => {
                    Some(m)
                }
                _ => None,
            }
        };
        let (after_yes, after_no) = (arm(shader, yes), arm(shader, no));
        let (merge, yes_arm, no_arm) = match (after_yes, after_no) {
            (Some(a), Some(b)) if a == b => (a, Some(yes), Some(no)),
            (Some(a), _) if a == no => (a, Some(yes), None),
            (_, Some(b)) if b == yes => (b, None, Some(no)),
            _ => continue,
        };
        let same_loop = |b: u32| cfg.loop_of[b as usize] == cfg.loop_of[h];
        let head = Block(h as u32);
        if merge <= head || !same_loop(merge.0) || ![yes_arm, no_arm].iter().flatten().all(|b| same_loop(b.0))
        {
            continue;
        }
        let arms: Vec<Value> =
            [yes_arm, no_arm].iter().flatten().flat_map(|b| shader.block(*b).insts.iter().copied()).collect();
        let ops = arms.iter().filter(|v| !matches!(shader.data(**v).inst, Inst::Const(_) | Inst::Input(_)));
        if ops.count() > MOST_OPS || !arms.iter().all(|v| cheap(&shader.data(*v).inst)) {
            continue;
        }
        let phis: Vec<Value> = shader
            .block(merge)
            .insts
            .iter()
            .copied()
            .take_while(|v| matches!(shader.data(*v).inst, Inst::Phi(_)))
            .take(MOST_PHIS + 1)
            .collect();
        if phis.len() > MOST_PHIS {
            continue;
        }
        shader.blocks[h].insts.extend(arms);
        for phi in phis {
            let ty = shader.ty(phi);
            let Inst::Phi(sources) = &mut shader.values[phi.0 as usize].inst else { unreachable!() };
            // A look at a source is short.
            shader.work.spend(sources.len() / 32)?;
            let from = |arm: Option<Block>| {
                let p = arm.unwrap_or(head);
                sources.iter().find(|s| s.0 == p).map(|s| s.1)
            };
            let (Some(a), Some(b)) = (from(yes_arm), from(no_arm)) else { continue };
            sources.retain(|s| s.0 != head && Some(s.0) != yes_arm && Some(s.0) != no_arm);
            let new = Value(shader.values.len() as u32);
            let Inst::Phi(sources) = &mut shader.values[phi.0 as usize].inst else { unreachable!() };
            sources.push((head, new));
            shader.values.push(ValueData {
                inst: Inst::Tri(Tri::Select, cond, a, b),
                ty,
                flags: ValueFlags::default(),
            });
            debug_assert!(ty != Ty::Tuple);
            shader.blocks[h].insts.push(new);
        }
        shader.blocks[h].term = Term::Jump(merge);
        shader.blocks[h].merge = Merge::None;
        for b in [yes_arm, no_arm].into_iter().flatten() {
            // Nothing leads here any more.
            shader.blocks[b.0 as usize].insts.clear();
        }
        changed = true;
    }
    Ok(changed)
}
