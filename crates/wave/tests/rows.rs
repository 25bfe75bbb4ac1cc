//! Loads and stores of rows against the ops of single rows: the same registers, memory, status and counts, wherever the rows lie.

use crate::common::lab::{Lab, masks, memory_ops};
use crate::common::{TestHost, levels};
use random::Random;
use shader::bytecode::*;
use shader::ir::Mem;
use wave::Status;

const N: Reg = Reg::NONE;
const MEMS: [Mem; 5] = [Mem::U8, Mem::U16, Mem::F16, Mem::B32, Mem::B64];
const ROWS: usize = 16;

/// Registers: offsets, addresses, strides, descriptors, rows from unit 128 on.
const A: Reg = Reg(0);
const A64: Reg = Reg(16);
const STRIDES: Reg = Reg(48);
const UC: Reg = Reg(64 | Reg::UNIFORM);
const UB: Reg = Reg(66 | Reg::UNIFORM);
const STRIDE: Reg = Reg(68 | Reg::UNIFORM);
const B: Reg = Reg(80);
fn data(i: usize) -> Reg {
    Reg(128 + i as u16 * 32)
}

/// What the op is of, and how its parts differ among lanes.
#[derive(Clone, Copy, Debug)]
struct Case {
    code: Code,
    mem: Mem,
    /// Each warp has a stride of its own.
    apart: bool,
    /// Lanes have descriptors of their own.
    varying: bool,
    /// All lines are counted.
    traced: bool,
}

/// Where a warp's rows begin, and bytes from one to the next.
fn places(r: &mut Random, size: u32, bytes: u32, run: bool) -> [u32; 16] {
    let base = r.below(size);
    match r.below(5) {
        0 => std::array::from_fn(|i| size.wrapping_sub(64).wrapping_add(i as u32 * bytes)),
        1 => std::array::from_fn(|i| (i as u32 * bytes).wrapping_sub(24)),
        2 if !run => std::array::from_fn(|_| r.below(size)),
        3 if !run => [base; 16],
        _ => std::array::from_fn(|i| (base / 8 * 4).wrapping_add(i as u32 * bytes)),
    }
}

/// Adds what a row counts of memory.
fn add(to: &mut Vec<u64>, row: &wave::tally::Row) {
    let numbers: Vec<u64> = [&row.lines.0[..], &row.unknown.0, &row.sampled.0, &row.sampled_lines.0].concat();
    to.resize(numbers.len(), 0);
    to.iter_mut().zip(numbers).for_each(|(to, n)| *to += n);
}

fn check(r: &mut Random, case: Case) {
    let Case { code, mem, apart, varying, traced } = case;
    let one = code.one_row().expect("rows");
    let size = 3000 + r.below(3000);
    let memory: Vec<u8> = (0..size).map(|_| r.u32() as u8 & 0x7B).collect();
    let global = matches!(one, Code::LD_GLOBAL | Code::ST_GLOBAL);
    let exec = if r.below(2) == 0 { [0xFFFF; 16] } else { masks(r) };
    let mut lab = Lab::new(128 + 32 * ROWS + 32, exec);
    lab.traced = traced;
    if matches!(one, Code::LD_SHARED | Code::ST_SHARED) {
        lab.groups = 1 << r.below(5);
    }
    let run = r.below(4) != 0;
    let strides: [u32; 16] = std::array::from_fn(|_| match r.below(6) {
        0 => 0,
        1 => mem.bytes() * 16,
        2 => 64,
        3 => r.below(200),
        4 => r.below(40).wrapping_neg(),
        _ => r.below(4) * mem.bytes(),
    });
    let (imm, c) = (r.below(20), r.below(30));
    lab.set_u(STRIDE, strides[0]);
    lab.set_u(UC, c);
    let mut at = vec![];
    for w in 0..16 {
        for (i, o) in places(r, size, mem.bytes(), run).into_iter().enumerate() {
            lab.set(STRIDES, w * 16 + i, strides[w]);
            lab.set(A, w * 16 + i, o);
            at.push(o);
        }
    }
    for i in 0..ROWS {
        for l in 0..256 {
            let half = half::f16::from_bits(r.u32() as u16 & 0xBBFF);
            match mem {
                Mem::F16 => lab.set(data(i), l, half.to_f32().to_bits()),
                Mem::B64 => lab.set64(data(i), l, r.u64()),
                _ => lab.set(data(i), l, r.u32()),
            }
        }
    }
    let shape = if run && r.below(3) != 0 { SHAPE_RUN } else { 0 };
    let a = if global { A64 } else { A };
    let b = match one {
        Code::LD_BUF | Code::ST_BUF if varying => B,
        Code::LD_BUF | Code::ST_BUF => UB,
        _ => N,
    };
    let d = if apart { STRIDES } else { STRIDE };
    let op = Op { code, d, a, b, c: UC, e: mem_bits(mem, ROWS as u8) | shape, imm };
    let mut rows = memory_ops(op, (0..ROWS).map(data));
    rows[0].d = d;
    let host = TestHost::default();
    for level in levels() {
        // The same places for the op and for those of single rows: lines are counted by address.
        let (mut m, mut other) = (memory.clone(), memory.clone());
        let descs =
            [[m.as_mut_ptr() as u64, size as u64, 0, 0], [other.as_mut_ptr() as u64, 500, 0, 0], [0; 4]];
        let mut x = lab.clone();
        x.set_u64(UB, descs[0].as_ptr() as u64);
        x.shared = memory.repeat(x.groups);
        x.arena = wave::Arena::of(m.as_ptr() as u64, m.as_ptr() as u64 + size as u64);
        for l in 0..256 {
            x.set64(B, l, descs[l / 5 % 3].as_ptr() as u64);
            x.set64(A64, l, x.arena.start.wrapping_add(at[l] as i32 as i64 as u64));
        }
        let mut y = x.clone();
        let (status, took) = x.run(level, &rows, &host);
        let made = (m.clone(), other.clone());
        m.copy_from_slice(&memory);
        other.copy_from_slice(&memory);
        let (mut expected, mut counts) = (Status::Running, vec![]);
        // By warps where their strides differ, as the op does.
        let live = y.exec;
        'all: for part in 0..if apart { 16 } else { 1 } {
            if apart {
                y.exec = std::array::from_fn(|w| if w == part { live[w] } else { 0 });
                if y.exec[part] == 0 {
                    continue;
                }
            }
            for i in 0..ROWS {
                let imm = imm.wrapping_add(strides[part].wrapping_mul(i as u32));
                let op = Op { code: one, d: data(i), e: mem_bits(mem, 1) | shape, imm, ..op };
                expected = y.run(level, &[op], &host).0;
                add(&mut counts, &y.row);
                if expected != Status::Running {
                    break 'all;
                }
            }
        }
        y.exec = live;
        let what = format!("{case:?} {level:?} run {run} shape {shape}");
        if let (Status::Fault(_), Status::Fault(_)) = (status, expected) {
            continue;
        }
        assert_eq!((status, took), (expected, rows.len()), "{what}");
        for i in 0..ROWS {
            for l in x.active() {
                let value = |lab: &Lab| match mem {
                    Mem::B64 => lab.get64(data(i), l),
                    _ => lab.get(data(i), l) as u64,
                };
                assert_eq!(value(&x), value(&y), "{what}: row {i} lane {l}");
            }
        }
        assert!(made == (m, other) && x.shared == y.shared, "{what}: memory");
        let mut own = vec![];
        add(&mut own, &x.row);
        assert_eq!(own, counts, "{what}: counts");
    }
}

#[test]
fn are_what_single_rows_are() {
    let mut r = Random::new(77);
    let codes = [
        Code::LD_ROWS_BUF,
        Code::LD_ROWS_GLOBAL,
        Code::LD_ROWS_SHARED,
        Code::ST_ROWS_BUF,
        Code::ST_ROWS_GLOBAL,
        Code::ST_ROWS_SHARED,
    ];
    for code in codes {
        for mem in MEMS {
            for k in 0..120 {
                check(&mut r, Case { code, mem, apart: k % 3 == 0, varying: k % 7 == 0, traced: k % 2 == 0 });
            }
        }
    }
}
