//! Loop-invariant code motion: into the preheader of the outermost loop that an operation does not depend on.
//!
//! Uniform values always move: they cost one scalar register. Varying ones move while a loop's budget lasts, and
//! costly or loading ones only from blocks that every iteration runs through.

use crate::cfg::{Cfg, NONE};
use crate::ir::{Inst, Shader, Ty};
use crate::isa::{facts, is_movable, operands};
use crate::lower::uniform::Uniformity;

/// Varying values a loop may receive.
const VARYING: u32 = 12;

fn costly(inst: &Inst) -> bool {
    let by_row = facts(inst).is_some_and(|f| !f.cheap && f.cost.sfu != 0);
    by_row || matches!(inst, Inst::Load { .. })
}

/// True when something moved.
pub fn licm(shader: &mut Shader, cfg: &Cfg, u: &Uniformity) -> bool {
    if cfg.loops.is_empty() {
        return false;
    }
    let preheader = super::preheader::preheaders(cfg);
    // Loop in which each value is defined.
    let mut home = vec![NONE; shader.values.len()];
    for (b, block) in shader.blocks.iter().enumerate() {
        for v in &block.insts {
            if !matches!(shader.data(*v).inst, Inst::Const(_) | Inst::Input(_)) {
                home[v.0 as usize] = cfg.loop_of[b];
            }
        }
    }
    let mut budget = vec![VARYING; cfg.loops.len()];
    let mut moved: Vec<Vec<crate::ir::Value>> = vec![vec![]; shader.blocks.len()];
    for b in 0..shader.blocks.len() {
        let own = cfg.loop_of[b];
        if own == NONE {
            continue;
        }
        let insts = std::mem::take(&mut shader.blocks[b].insts);
        let mut stay = Vec::with_capacity(insts.len());
        for v in insts {
            let data = shader.data(v);
            let part = matches!(data.inst, Inst::Part(..));
            if !part && (!is_movable(&data.inst) || matches!(data.inst, Inst::Const(_) | Inst::Input(_))) {
                stay.push(v);
                continue;
            }
            // The innermost loop around that some operand is defined in.
            let mut inner = NONE;
            operands(&data.inst, |o| {
                // Its loop may lie deeper, before this block, in a loop around both.
                let h = cfg.common_loop(home[o.0 as usize], own);
                if cfg.depth(h) > cfg.depth(inner) {
                    inner = h;
                }
            });
            let varying = u.varying[v.0 as usize];
            let (mut l, mut target) = (own, NONE);
            while l != inner {
                let always = cfg.dominates(b as u32, cfg.loops[l as usize].last);
                let allowed = preheader[l as usize] != NONE
                    && (part
                        || !varying
                        || ((always || !costly(&data.inst))
                            && (data.ty == Ty::Bool || budget[l as usize] > 0)));
                if !allowed {
                    break;
                }
                target = l;
                l = cfg.parent(l);
            }
            if target == NONE {
                stay.push(v);
                continue;
            }
            if varying && !part {
                let mut l = own;
                while l != NONE && l != cfg.parent(target) {
                    budget[l as usize] = budget[l as usize].saturating_sub(1);
                    l = cfg.parent(l);
                }
            }
            home[v.0 as usize] = cfg.parent(target);
            moved[preheader[target as usize] as usize].push(v);
        }
        shader.blocks[b].insts = stay;
    }
    let any = moved.iter().any(|list| !list.is_empty());
    for (b, list) in moved.into_iter().enumerate() {
        shader.blocks[b].insts.extend(list);
    }
    any
}
