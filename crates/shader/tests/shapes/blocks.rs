//! Shapes of control flow.

use super::Row;
use super::asm::Asm;
use super::loops::counting;
use spirv::Op;

pub const SHAPES: &[Row] = &[
    ("switch", switch, 250, 4000),
    ("switch in a loop", switch_in_loop, 250, 4000),
    ("switch, a phi", switch_phi, 250, 4000),
    ("switch, values of many phis", switch_phis, 32, 256),
    ("blocks in a row", row, 2000, 80_000),
    ("blocks in a row, variables", row_variables, 500, 8000),
    ("ifs in a row", ifs, 500, 16_000),
    ("ifs in a row, uniform", uniform_ifs, 500, 16_000),
    ("ifs in a row, depending", ifs_depending, 500, 16_000),
    ("ifs and elses in a row", ifs_elses, 500, 16_000),
    ("ifs in ifs", nested, 500, 8000),
    ("ifs in ifs, a store in each", nested_stores, 500, 8000),
    ("elses in elses", ladder, 500, 8000),
    ("breaks to one place", breaks, 250, 8000),
    ("switches to one place", shared_cases, 250, 4000),
    ("blocks unreached", unreached, 500, 16_000),
];

pub const EXPLOSIVE: &[Row] =
    &[("ifs in ifs, deep", nested, 1000, 100_000), ("blocks in a row, many", row, 10_000, 1_000_000)];

/// A variable that begins as the lane's word, the code, then it is stored.
pub(super) fn around(a: &mut Asm, code: impl FnOnce(&mut Asm, u32)) {
    a.begin(a.ids.main);
    let x = a.local(a.ids.uint);
    let first = a.input();
    a.store(x, first);
    code(a, x);
    let last = a.load(x);
    a.output(last);
    a.end();
}

fn cases(a: &mut Asm, x: u32, n: u32) {
    let selector = a.load(x);
    let (merge, default) = (a.id(), a.id());
    let labels: Vec<u32> = (0..n).map(|_| a.id()).collect();
    a.put(Op::SelectionMerge, &[merge, 0]);
    let mut operands = vec![selector, default];
    labels.iter().enumerate().for_each(|(k, l)| operands.extend([k as u32, *l]));
    a.put(Op::Switch, &operands);
    for (k, l) in labels.into_iter().enumerate() {
        a.label(l);
        let old = a.load(x);
        let c = a.constant(k as u32 * 7 + 3);
        let new = a.bin(Op::IMul, old, c);
        a.store(x, new);
        a.jump(merge);
    }
    a.label(default);
    a.jump(merge);
    a.label(merge);
}

fn switch(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| cases(a, x, n));
    a.finish()
}

fn switch_in_loop(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let (x, i) = (a.local(a.ids.uint), a.local(a.ids.uint));
    let first = a.input();
    a.store(x, first);
    let ten = a.constant(10);
    counting(&mut a, i, ten, |a| cases(a, x, n));
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

fn switch_phi(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let selector = a.load(x);
        let (merge, default) = (a.id(), a.id());
        let labels: Vec<u32> = (0..n).map(|_| a.id()).collect();
        a.put(Op::SelectionMerge, &[merge, 0]);
        let mut operands = vec![selector, default];
        labels.iter().enumerate().for_each(|(k, l)| operands.extend([k as u32, *l]));
        a.put(Op::Switch, &operands);
        let mut sources = vec![selector, default];
        for (k, l) in labels.into_iter().enumerate() {
            a.label(l);
            let c = a.constant(k as u32 * 7 + 3);
            let new = a.bin(Op::IMul, selector, c);
            sources.extend([new, l]);
            a.jump(merge);
        }
        a.label(default);
        a.jump(merge);
        a.label(merge);
        let v = a.op(Op::Phi, a.ids.uint, &sources);
        a.store(x, v);
    });
    a.finish()
}

/// Switches whose phis' operands are phis of switches.
fn switch_phis(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        for _ in 0..n {
            cases(a, x, 32);
        }
    });
    a.finish()
}

fn row(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        for k in 0..n {
            let next = a.id();
            a.jump(next);
            a.label(next);
            if k % 16 == 0 {
                let (old, c) = (a.load(x), a.constant(k));
                let new = a.bin(Op::BitwiseXor, old, c);
                a.store(x, new);
            }
        }
    });
    a.finish()
}

/// As many variables as blocks, all read at the end.
fn row_variables(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let all: Vec<u32> = (0..n).map(|_| a.local(a.ids.uint)).collect();
    let first = a.input();
    for (k, &v) in all.iter().enumerate() {
        let c = a.constant(k as u32 * 3 + 1);
        let x = a.bin(Op::IMul, first, c);
        a.store(v, x);
    }
    for _ in 0..n {
        let next = a.id();
        a.jump(next);
        a.label(next);
    }
    let mut sum = first;
    for &v in &all {
        let x = a.load(v);
        sum = a.bin(Op::BitwiseXor, sum, x);
    }
    a.output(sum);
    a.end();
    a.finish()
}

/// `if (c) { stores to the buffer, too large for a select }`.
fn one_if(a: &mut Asm, cond: u32, x: u32, k: u32) {
    let merge = a.id();
    a.branch(cond, merge, merge);
    let (old, c) = (a.load(x), a.constant(k * 5 + 1));
    let new = a.bin(Op::UDiv, old, c);
    let new = a.bin(Op::IAdd, new, c);
    a.store(x, new);
    a.output(new);
    a.jump(merge);
    a.label(merge);
}

fn ifs(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let first = a.load(x);
        for k in 0..n {
            let c = a.constant(k);
            let cond = a.test(Op::ULessThan, first, c);
            one_if(a, cond, x, k);
        }
    });
    a.finish()
}

fn uniform_ifs(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let zero = a.constant(0);
        let p = a.at(zero);
        let first = a.load(p);
        for k in 0..n {
            let c = a.constant(k);
            let cond = a.test(Op::ULessThan, first, c);
            one_if(a, cond, x, k);
        }
    });
    a.finish()
}

/// Each condition is what the one before left.
fn ifs_depending(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let x = a.local(a.ids.uint);
    let zero = a.constant(0);
    let p = a.at(zero);
    let same = a.load(p);
    a.store(x, same);
    let y = a.local(a.ids.uint);
    let first = a.input();
    let one = a.constant(1);
    let mut cond = a.test(Op::ULessThan, first, one);
    for k in 0..n {
        a.store(y, zero);
        let merge = a.id();
        a.branch(cond, merge, merge);
        let c = a.constant(k * 5 + 1);
        a.store(y, c);
        one_more(&mut a, x, c);
        a.jump(merge);
        a.label(merge);
        let left = a.load(y);
        cond = a.test(Op::ULessThan, left, one);
    }
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

pub(super) fn one_more(a: &mut Asm, x: u32, c: u32) {
    let old = a.load(x);
    let new = a.bin(Op::UDiv, old, c);
    a.store(x, new);
    let p = a.at(c);
    a.store(p, new);
}

fn ifs_elses(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        for k in 0..n {
            let (old, c) = (a.load(x), a.constant(k * 5 + 1));
            let cond = a.test(Op::ULessThan, old, c);
            let (merge, no) = (a.id(), a.id());
            a.branch(cond, merge, no);
            one_more(a, x, c);
            a.jump(merge);
            a.label(no);
            let new = a.bin(Op::IMul, old, c);
            a.store(x, new);
            a.output(new);
            a.jump(merge);
            a.label(merge);
        }
    });
    a.finish()
}

fn nested(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let first = a.load(x);
        let merges: Vec<u32> = (0..n)
            .map(|k| {
                let (c, merge) = (a.constant(k), a.id());
                let cond = a.test(Op::UGreaterThan, first, c);
                a.branch(cond, merge, merge);
                merge
            })
            .collect();
        let c = a.constant(12345);
        a.store(x, c);
        a.output(c);
        for merge in merges.into_iter().rev() {
            a.jump(merge);
            a.label(merge);
        }
    });
    a.finish()
}

fn nested_stores(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let merges: Vec<u32> = (0..n)
            .map(|k| {
                let (c, merge) = (a.constant(k + 1), a.id());
                let old = a.load(x);
                let cond = a.test(Op::UGreaterThan, old, c);
                a.branch(cond, merge, merge);
                one_more(a, x, c);
                merge
            })
            .collect();
        for merge in merges.into_iter().rev() {
            a.jump(merge);
            a.label(merge);
        }
    });
    a.finish()
}

fn ladder(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let first = a.load(x);
        let merges: Vec<u32> = (0..n)
            .map(|k| {
                let (c, merge, no) = (a.constant(k + 1), a.id(), a.id());
                let cond = a.test(Op::IEqual, first, c);
                a.branch(cond, merge, no);
                one_more(a, x, c);
                a.jump(merge);
                a.label(no);
                merge
            })
            .collect();
        for merge in merges.into_iter().rev() {
            a.jump(merge);
            a.label(merge);
        }
    });
    a.finish()
}

fn unreached(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let never = a.constant_of(Op::ConstantFalse, a.ids.bool, &[]);
        for k in 0..n {
            one_if(a, never, x, k);
        }
    });
    a.finish()
}

/// Ifs with an else of which one side leaves a loop: its merge block has as many ways in.
fn breaks(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let [head, body, next, merge] = std::array::from_fn(|_| a.id());
        a.jump(head);
        a.label(head);
        a.put(Op::LoopMerge, &[merge, next, 0]);
        a.jump(body);
        a.label(body);
        for k in 0..n {
            let (old, c) = (a.load(x), a.constant(k * 5 + 1));
            let cond = a.test(Op::ULessThan, old, c);
            let (on, no) = (a.id(), a.id());
            a.branch(cond, on, no);
            one_more(a, x, c);
            a.jump(merge);
            a.label(no);
            one_more(a, x, c);
            a.jump(on);
            a.label(on);
        }
        a.jump(next);
        a.label(next);
        a.jump(head);
        a.label(merge);
    });
    a.finish()
}

/// Ifs with an else in the cases of a switch.
fn shared_cases(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    around(&mut a, |a, x| {
        let selector = a.load(x);
        let (merge, default) = (a.id(), a.id());
        let labels: Vec<u32> = (0..n).map(|_| a.id()).collect();
        a.put(Op::SelectionMerge, &[merge, 0]);
        let mut operands = vec![selector, default];
        labels.iter().enumerate().for_each(|(k, l)| operands.extend([k as u32, *l]));
        a.put(Op::Switch, &operands);
        for (k, l) in labels.into_iter().enumerate() {
            a.label(l);
            let (old, c) = (a.load(x), a.constant(k as u32 * 7 + 3));
            let cond = a.test(Op::ULessThan, old, c);
            let (on, no) = (a.id(), a.id());
            a.branch(cond, on, no);
            a.store(x, c);
            a.jump(merge);
            a.label(no);
            let new = a.bin(Op::IAdd, old, c);
            a.store(x, new);
            a.jump(merge);
            a.label(on);
            a.put(Op::Unreachable, &[]);
        }
        a.label(default);
        a.jump(merge);
        a.label(merge);
    });
    a.finish()
}
