//! Shapes of loops.

use super::Row;
use super::asm::Asm;
use super::blocks::one_more;
use spirv::Op;

pub const SHAPES: &[Row] = &[
    ("loops in a row", loops, 250, 4000),
    ("loops in a row, depending", loops_depending, 250, 4000),
    ("loops in loops", loops_in_loops, 32, 128),
    ("exits of a loop", exits, 500, 8000),
    ("ifs in a loop, backwards", backwards, 100, 800),
    ("ifs and elses in a loop", loop_of_ifs, 250, 8000),
    ("variables after loops", variables_after_loops, 500, 2000),
];

pub const EXPLOSIVE: &[Row] = &[("ifs in a loop, many", backwards, 100, 3000)];

/// `for (i = 0; i < n; i++) { body }` with a variable for i.
pub(super) fn counting(a: &mut Asm, i: u32, n: u32, body: impl FnOnce(&mut Asm)) {
    let [head, test, inside, next, merge] = std::array::from_fn(|_| a.id());
    let (zero, one) = (a.constant(0), a.constant(1));
    a.store(i, zero);
    a.jump(head);
    a.label(head);
    a.put(Op::LoopMerge, &[merge, next, 0]);
    a.jump(test);
    a.label(test);
    let k = a.load(i);
    let more = a.test(Op::ULessThan, k, n);
    a.put(Op::BranchConditional, &[more, inside, merge]);
    a.label(inside);
    body(a);
    a.jump(next);
    a.label(next);
    let k = a.load(i);
    let k = a.bin(Op::IAdd, k, one);
    a.store(i, k);
    a.jump(head);
    a.label(merge);
}

fn loops(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let (x, i) = (a.local(a.ids.uint), a.local(a.ids.uint));
    let first = a.input();
    a.store(x, first);
    for k in 0..n {
        let times = a.constant(k + 2);
        counting(&mut a, i, times, |a| {
            let (old, c) = (a.load(x), a.constant(k * 5 + 1));
            let new = a.bin(Op::IMul, old, c);
            a.store(x, new);
        });
    }
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

/// How often each runs is what the one before left.
fn loops_depending(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let (x, i) = (a.local(a.ids.uint), a.local(a.ids.uint));
    let first = a.input();
    a.store(x, first);
    for _ in 0..n {
        let times = a.load(x);
        counting(&mut a, i, times, |a| {
            let c = a.constant(1);
            let p = a.at(c);
            let old = a.load(p);
            a.store(p, old);
        });
        let last = a.load(i);
        a.store(x, last);
    }
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

fn loops_in_loops(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let x = a.local(a.ids.uint);
    let counters: Vec<u32> = (0..n).map(|_| a.local(a.ids.uint)).collect();
    let first = a.input();
    a.store(x, first);
    fn within(a: &mut Asm, x: u32, counters: &[u32]) {
        let Some((&i, rest)) = counters.split_first() else { return };
        let times = a.load(x);
        counting(a, i, times, |a| {
            let (old, c) = (a.load(x), a.constant(3));
            let new = a.bin(Op::UDiv, old, c);
            a.store(x, new);
            within(a, x, rest);
        });
    }
    within(&mut a, x, &counters);
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

/// A loop that may be left at many places.
fn exits(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let (x, i) = (a.local(a.ids.uint), a.local(a.ids.uint));
    let first = a.input();
    a.store(x, first);
    let [head, next, merge] = std::array::from_fn(|_| a.id());
    let (zero, one) = (a.constant(0), a.constant(1));
    a.store(i, zero);
    a.jump(head);
    a.label(head);
    a.put(Op::LoopMerge, &[merge, next, 0]);
    let body = a.id();
    a.jump(body);
    a.label(body);
    for k in 0..n {
        let (old, c) = (a.load(x), a.constant(k * 3 + 1));
        let new = a.bin(Op::IMul, old, c);
        let new = a.bin(Op::BitwiseXor, new, c);
        a.store(x, new);
        let done = a.test(Op::UGreaterThan, new, c);
        let on = a.id();
        a.put(Op::SelectionMerge, &[on, 0]);
        a.put(Op::BranchConditional, &[done, merge, on]);
        a.label(on);
    }
    a.jump(next);
    a.label(next);
    let k = a.load(i);
    let k = a.bin(Op::IAdd, k, one);
    a.store(i, k);
    let ten = a.constant(10);
    let more = a.test(Op::ULessThan, k, ten);
    a.put(Op::BranchConditional, &[more, head, merge]);
    a.label(merge);
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

/// Each if of a loop depends on what the next one left in the iteration before.
fn backwards(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let i = a.local(a.ids.uint);
    let all: Vec<u32> = (0..n + 1).map(|_| a.local(a.ids.uint)).collect();
    let zero = a.constant(0);
    all.iter().for_each(|v| a.store(*v, zero));
    let ten = a.constant(10);
    counting(&mut a, i, ten, |a| {
        for k in 0..n as usize {
            let x = a.load(all[k + 1]);
            let cond = a.test(Op::INotEqual, x, zero);
            let merge = a.id();
            a.branch(cond, merge, merge);
            let c = a.constant(k as u32 + 1);
            a.store(all[k], c);
            let p = a.at(c);
            a.store(p, c);
            a.jump(merge);
            a.label(merge);
        }
        let first = a.input();
        a.store(all[n as usize], first);
    });
    let last = a.load(all[0]);
    a.output(last);
    a.end();
    a.finish()
}

fn loop_of_ifs(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let (x, i) = (a.local(a.ids.uint), a.local(a.ids.uint));
    let first = a.input();
    a.store(x, first);
    let ten = a.constant(10);
    counting(&mut a, i, ten, |a| {
        for k in 0..n {
            let (old, c) = (a.load(x), a.constant(k * 5 + 1));
            let cond = a.test(Op::ULessThan, old, c);
            let (merge, no) = (a.id(), a.id());
            a.branch(cond, merge, no);
            one_more(a, x, c);
            a.jump(merge);
            a.label(no);
            let new = a.bin(Op::BitwiseXor, old, c);
            a.store(x, new);
            a.output(new);
            a.jump(merge);
            a.label(merge);
        }
    });
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

/// As many variables as loops in a row, all read after them.
fn variables_after_loops(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let i = a.local(a.ids.uint);
    let all: Vec<u32> = (0..n).map(|_| a.local(a.ids.uint)).collect();
    let first = a.input();
    for (k, &v) in all.iter().enumerate() {
        let c = a.constant(k as u32 * 3 + 1);
        let x = a.bin(Op::IMul, first, c);
        a.store(v, x);
    }
    for k in 0..n {
        let times = a.constant(k % 7 + 2);
        counting(&mut a, i, times, |a| a.output(first));
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
