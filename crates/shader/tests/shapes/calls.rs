//! Shapes of calls.

use super::Row;
use super::asm::Asm;
use super::loops::counting;
use spirv::Op;

pub const SHAPES: &[Row] = &[
    ("calls in a row", calls, 500, 16_000),
    ("calls of many functions", functions, 500, 8000),
    ("functions unused", unused, 500, 16_000),
    ("returns", returns, 500, 8000),
];

pub const EXPLOSIVE: &[Row] =
    &[("calls that double", doubling, 8, 30), ("calls in calls of loops", calls_of_loops, 4, 90)];

/// A function that changes a private variable.
fn callee(a: &mut Asm, x: u32, k: u32) -> u32 {
    let f = a.id();
    a.begin(f);
    let (old, c) = (a.load(x), a.constant(k * 5 + 3));
    let new = a.bin(Op::IMul, old, c);
    let new = a.bin(Op::BitwiseXor, new, old);
    a.store(x, new);
    a.end();
    f
}

fn call(a: &mut Asm, f: u32) {
    a.op(Op::FunctionCall, a.ids.void, &[f]);
}

/// Writes the private variable, calls functions, stores the variable.
fn main_of_calls(a: &mut Asm, x: u32, functions: &[u32]) {
    a.begin(a.ids.main);
    let first = a.input();
    a.store(x, first);
    functions.iter().for_each(|f| call(a, *f));
    let last = a.load(x);
    a.output(last);
    a.end();
}

fn calls(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    let f = callee(&mut a, x, 1);
    main_of_calls(&mut a, x, &vec![f; n as usize]);
    a.finish()
}

fn functions(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    let all: Vec<u32> = (0..n).map(|k| callee(&mut a, x, k)).collect();
    main_of_calls(&mut a, x, &all);
    a.finish()
}

fn unused(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    (0..n).for_each(|k| {
        callee(&mut a, x, k);
    });
    main_of_calls(&mut a, x, &[]);
    a.finish()
}

fn doubling(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    let mut f = callee(&mut a, x, 1);
    for _ in 0..n {
        let g = a.id();
        a.begin(g);
        call(&mut a, f);
        call(&mut a, f);
        a.end();
        f = g;
    }
    main_of_calls(&mut a, x, &[f]);
    a.finish()
}

/// Loops in loops through calls: deeper than one function may have them.
fn calls_of_loops(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    let mut f = callee(&mut a, x, 1);
    for _ in 0..n {
        let g = a.id();
        a.begin(g);
        let counters: Vec<u32> = (0..8).map(|_| a.local(a.ids.uint)).collect();
        fn within(a: &mut Asm, x: u32, f: u32, counters: &[u32]) {
            let Some((&i, rest)) = counters.split_first() else { return call(a, f) };
            let times = a.load(x);
            counting(a, i, times, |a| within(a, x, f, rest));
        }
        within(&mut a, x, f, &counters);
        a.end();
        f = g;
    }
    main_of_calls(&mut a, x, &[f]);
    a.finish()
}

fn returns(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    let f = a.id();
    a.begin(f);
    for k in 0..n {
        let (old, c) = (a.load(x), a.constant(k * 5 + 3));
        let cond = a.test(Op::IEqual, old, c);
        let merge = a.id();
        a.branch(cond, merge, merge);
        a.store(x, c);
        a.put(Op::Return, &[]);
        a.label(merge);
    }
    a.end();
    main_of_calls(&mut a, x, &[f]);
    a.finish()
}
