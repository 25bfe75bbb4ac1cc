//! Changes of the way through the code.

use crate::flow::{self, Flow};
use crate::module::{Inst, Module, op};
use random::Random;

/// A stretch of a block that can stand in a block of its own: no value of it is used after it.
struct Stretch {
    label: u32,
    from: usize,
    to: usize,
    flow: usize,
}

fn is_plain(i: &Inst) -> bool {
    !(i.is_merge() || i.is_terminator() || matches!(i.op, op::PHI | op::VARIABLE | op::LABEL))
}

fn stretch(m: &Module, r: &mut Random, flows: &[Flow]) -> Option<Stretch> {
    let flow = r.index(flows.len().max(1));
    let b = r.of(&flows.get(flow)?.blocks)?;
    // A loop's header stays one block: its merge instruction goes with its label.
    if m.insts[b.begin..b.end].iter().any(|i| i.op == op::LOOP_MERGE) {
        return None;
    }
    let plain: Vec<usize> = (b.begin + 1..b.end).filter(|at| is_plain(&m.insts[*at])).collect();
    let from = *r.of(&plain)?;
    let most = from + 1 + r.index(24);
    let mut to = (from..b.end).take_while(|at| is_plain(&m.insts[*at])).last()? + 1;
    to = to.min(most);
    // The longest one that keeps its values to itself.
    while to > from {
        let made: Vec<u32> = m.insts[from..to].iter().map(|i| i.id).filter(|id| *id != 0).collect();
        let outside = m.insts[to..].iter().chain(&m.insts[..from]).filter(|i| !i.is_about());
        let escapes = outside.flat_map(|i| &i.args).any(|w| made.contains(w));
        // A sampled image is used in the block that makes it.
        let sampled = m.insts[from..to]
            .iter()
            .flat_map(|i| &i.args)
            .any(|w| m.insts[b.begin..from].iter().any(|i| i.op == op::SAMPLED_IMAGE && i.id == *w))
            || m.insts[b.begin..from].iter().any(|i| i.op == op::SAMPLED_IMAGE);
        if !escapes && !sampled {
            return Some(Stretch { label: b.label, from, to, flow });
        }
        to -= 1;
    }
    None
}

/// Blocks that were reached from `old` are reached from `new`: their phis say so.
fn moved(m: &mut Module, old: u32, new: u32) {
    for i in m.insts.iter_mut().filter(|i| i.op == op::PHI) {
        i.args.iter_mut().skip(1).step_by(2).filter(|l| **l == old).for_each(|l| *l = new);
    }
}

fn label(id: u32) -> Inst {
    Inst::new(op::LABEL, 0, id, &[])
}
fn branch(to: u32) -> Inst {
    Inst::new(op::BRANCH, 0, 0, &[to])
}

/// A condition at a place: one that is there, or a constant.
fn condition(m: &mut Module, r: &mut Random, f: &Flow, at: usize) -> (u32, usize) {
    let before = m.insts.len();
    let bool = m.global(op::TYPE_BOOL, 0, &[]);
    let shift = m.insts.len() - before;
    let there = if shift == 0 { flow::values(m, f, at, bool) } else { vec![] };
    match r.of(&there) {
        Some(c) => (*c, 0),
        None => {
            let constant = if r.once_in(2) { op::CONSTANT_TRUE } else { op::CONSTANT_FALSE };
            let c = m.global(constant, bool, &[]);
            (c, m.insts.len() - before)
        }
    }
}

/// `if (c) { stretch }`.
pub fn wrap_if(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let s = stretch(m, r, &flows)?;
    let (c, shift) = condition(m, r, &flows[s.flow], s.from);
    let (from, to) = (s.from + shift, s.to + shift);
    let (then, merge) = (m.fresh(), m.fresh());
    moved(m, s.label, merge);
    let way = if r.once_in(4) { [merge, then] } else { [then, merge] };
    let control = r.index(3) as u32;
    m.insts.splice(to..to, [branch(merge), label(merge)]);
    m.insts.splice(
        from..from,
        [
            Inst::new(op::SELECTION_MERGE, 0, 0, &[merge, control]),
            Inst::new(op::BRANCH_CONDITIONAL, 0, 0, &[c, way[0], way[1]]),
            label(then),
        ],
    );
    Some(())
}

/// `for (i = 0; i < n; i++) { stretch }`.
pub fn wrap_loop(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let s = stretch(m, r, &flows)?;
    let before = m.insts.len();
    let bool = m.global(op::TYPE_BOOL, 0, &[]);
    let uint = m.global(op::TYPE_INT, 0, &[32, 0]);
    let zero = m.global(op::CONSTANT, uint, &[0]);
    let one = m.global(op::CONSTANT, uint, &[1]);
    let n = m.global(op::CONSTANT, uint, &[r.index(5) as u32]);
    let shift = m.insts.len() - before;
    let (from, to) = (s.from + shift, s.to + shift);
    let [header, body, again, merge] = [(); 4].map(|()| m.fresh());
    let [i, next, more] = [(); 3].map(|()| m.fresh());
    moved(m, s.label, merge);
    let control = [0, 0, 1, 2][r.index(4)];
    m.insts.splice(
        to..to,
        [
            branch(again),
            label(again),
            Inst::new(op::I_ADD, uint, next, &[i, one]),
            branch(header),
            label(merge),
        ],
    );
    m.insts.splice(
        from..from,
        [
            branch(header),
            label(header),
            Inst::new(op::PHI, uint, i, &[zero, s.label, next, again]),
            Inst::new(op::U_LESS_THAN, bool, more, &[i, n]),
            Inst::new(op::LOOP_MERGE, 0, 0, &[merge, again, control]),
            Inst::new(op::BRANCH_CONDITIONAL, 0, 0, &[more, body, merge]),
            label(body),
        ],
    );
    Some(())
}

/// A branch's two ways change places, or its condition is another.
pub fn turn_branch(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let all: Vec<usize> = (0..m.insts.len()).filter(|at| m.insts[*at].op == op::BRANCH_CONDITIONAL).collect();
    let at = *r.of(&all)?;
    if r.once_in(2) {
        m.insts[at].args.swap(1, 2);
        return Some(());
    }
    let (c, shift) = condition(m, r, flow::around(&flows, at)?, at);
    m.insts[at + shift].args[0] = c;
    Some(())
}

/// A block ends the invocation, or its function.
pub fn leave(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let f = r.of(&flows)?;
    let void = m.definition(m.insts[f.function].ty).is_some_and(|t| t.op == 19);
    // The jump back of a loop is to stay.
    let again: Vec<u32> = m.insts.iter().filter(|i| i.op == op::LOOP_MERGE).map(|i| i.args[1]).collect();
    let headers: Vec<u32> = f
        .blocks
        .iter()
        .filter(|b| m.insts[b.begin..b.end].iter().any(|i| i.op == op::LOOP_MERGE))
        .map(|b| b.label)
        .collect();
    let fit = |b: &&flow::Block| {
        let last = &m.insts[b.end];
        last.op == op::BRANCH
            && !again.contains(&b.label)
            && !headers.contains(&last.args[0])
            && !again.contains(&last.args[0])
            && !m.insts[b.end - 1].is_merge()
    };
    let blocks: Vec<&flow::Block> = f.blocks.iter().filter(fit).collect();
    let b = *r.of(&blocks)?;
    let (at, from, target) = (b.end, b.label, m.insts[b.end].args[0]);
    let fragment = m.insts.iter().filter(|i| i.op == op::ENTRY_POINT).all(|i| i.args[0] == 4);
    let end = match r.index(3) {
        0 if fragment => op::KILL,
        0 | 1 if void => op::RETURN,
        _ => op::UNREACHABLE,
    };
    m.insts[at] = Inst::new(end, 0, 0, &[]);
    // Nothing comes from here any more.
    let Some(target) = m.insts.iter().position(|i| i.op == op::LABEL && i.id == target) else {
        return Some(());
    };
    for i in m.insts[target + 1..].iter_mut().take_while(|i| i.op == op::PHI || i.is_line()) {
        if let Some(pair) = i.args.chunks(2).position(|p| p.get(1) == Some(&from)) {
            i.args.drain(2 * pair..2 * pair + 2);
        }
    }
    Some(())
}

/// Two neighbours change places.
pub fn exchange(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let f = r.of(&flows)?;
    let b = r.of(&f.blocks)?;
    let plain: Vec<usize> = (b.begin + 1..b.end.saturating_sub(1))
        .filter(|at| [*at, at + 1].iter().all(|p| is_plain(&m.insts[*p]) && !m.insts[*p].is_line()))
        .filter(|at| m.insts[*at].id == 0 || !m.insts[at + 1].args.contains(&m.insts[*at].id))
        .collect();
    let at = *r.of(&plain)?;
    m.insts.swap(at, at + 1);
    Some(())
}

/// What nobody reads is taken out: a value without uses, or something that is only done.
pub fn delete(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let inside: Vec<usize> = flows
        .iter()
        .flat_map(|f| &f.blocks)
        .flat_map(|b| b.begin + 1..b.end)
        .filter(|at| !m.insts[*at].is_merge() && !m.insts[*at].is_line())
        .collect();
    // The uses are looked for only of a few.
    for _ in 0..12 {
        let at = *r.of(&inside)?;
        let id = m.insts[at].id;
        if id == 0 || !m.is_used(id) {
            m.insts.remove(at);
            if id != 0 {
                m.forget(id);
            }
            return Some(());
        }
    }
    None
}
