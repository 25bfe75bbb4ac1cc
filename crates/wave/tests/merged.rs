//! Ops that stand for several loads against the ops of single loads: the same registers, status and counts, wherever the words lie.

use crate::common::lab::{Lab, masks, memory_ops};
use crate::common::{TestHost, levels};
use random::Random;
use shader::bytecode::*;
use shader::ir::Mem;
use wave::Status;

const N: Reg = Reg::NONE;

/// Registers: offsets, addresses, an addend, a descriptor, results from unit 128 on.
const A: Reg = Reg(0);
const A64: Reg = Reg(16);
const UC: Reg = Reg(64 | Reg::UNIFORM);
const UB: Reg = Reg(66 | Reg::UNIFORM);
fn data(i: usize) -> Reg {
    Reg(128 + i as u16 * 16)
}

/// Loads in one op, and scalars of each.
#[derive(Clone, Copy, Debug)]
struct Case {
    code: Code,
    mem: Mem,
    parts: usize,
    n: usize,
    /// All lines are counted.
    traced: bool,
}

/// Offsets of a warp's lanes, each of which takes `bytes`, some of them out of bounds.
fn places(r: &mut Random, size: u32, bytes: u32, part: u32) -> [u32; 16] {
    let base = r.below(size) / 4 * 4;
    let step = [bytes, bytes, part, 4, 2, 1, bytes + 4][r.below(7) as usize];
    match r.below(8) {
        0 => std::array::from_fn(|i| size.wrapping_sub(8 * step).wrapping_add(i as u32 * step)),
        1 => std::array::from_fn(|i| (i as u32 * step).wrapping_sub(24)),
        2 => std::array::from_fn(|_| r.below(size)),
        3 => [base; 16],
        _ => std::array::from_fn(|i| base.wrapping_add(i as u32 * step)),
    }
}

/// What a row counts of memory.
fn counts(row: &wave::tally::Row) -> Vec<u64> {
    [&row.lines.0[..], &row.unknown.0, &row.sampled.0, &row.sampled_lines.0].concat()
}

fn check(r: &mut Random, case: Case) {
    let Case { code, mem, parts, n, traced } = case;
    let all = parts * n;
    let part = n as u32 * mem.bytes();
    let size = 3000 + r.below(3000);
    let memory: Vec<u8> = (0..size).map(|_| r.u32() as u8 & 0x7B).collect();
    let mut lab = Lab::new(128 + 16 * 16, if r.below(2) == 0 { [0xFFFF; 16] } else { masks(r) });
    lab.traced = traced;
    if code == Code::LD_SHARED {
        lab.groups = 1 << r.below(5);
    }
    let (imm, c) = (r.below(20), r.below(30));
    lab.set_u(UC, c);
    let mut at = vec![];
    for w in 0..16 {
        for (i, o) in places(r, size, all as u32 * mem.bytes(), part).into_iter().enumerate() {
            lab.set(A, w * 16 + i, o);
            at.push(o);
        }
    }
    // A result may take the offsets' register; not in the single loads, which the others' come after.
    let (a, is_global) = if code == Code::LD_GLOBAL { (A64, true) } else { (A, false) };
    let in_place = !is_global && r.below(2) == 0;
    let last = all - 1;
    let result = |i: usize| if in_place && i == last { A } else { data(i) };
    let b = if code == Code::LD_BUF { UB } else { N };
    let op =
        Op { code, a, b, c: UC, e: mem_bits(mem, all as u8) | parts_bits(parts as u8), imm, ..Op::new(code) };
    let together = memory_ops(op, (0..all).map(result));
    let apart: Vec<Vec<Op>> = (0..parts)
        .map(|p| {
            let imm = imm + p as u32 * part;
            let op = Op { e: mem_bits(mem, n as u8), imm, ..op };
            memory_ops(op, (p * n..p * n + n).map(result))
        })
        .collect();
    let host = TestHost::default();
    for level in levels() {
        let mut m = memory.clone();
        let desc = [m.as_mut_ptr() as u64, size as u64, 0, 0];
        let mut x = lab.clone();
        x.set_u64(UB, desc.as_ptr() as u64);
        x.shared = memory.repeat(x.groups);
        x.arena = wave::Arena::of(m.as_ptr() as u64, m.as_ptr() as u64 + size as u64);
        for l in 0..256 {
            x.set64(A64, l, x.arena.start.wrapping_add(at[l] as i32 as i64 as u64));
        }
        let mut y = x.clone();
        let (status, took) = x.run(level, &together, &host);
        let (mut expected, mut counted) = (Status::Running, vec![0; counts(&x.row).len()]);
        for op in &apart {
            expected = y.run(level, op, &host).0;
            counted.iter_mut().zip(counts(&y.row)).for_each(|(sum, n)| *sum += n);
            if expected != Status::Running {
                break;
            }
        }
        if let (Status::Fault(_), Status::Fault(_)) = (status, expected) {
            continue;
        }
        let what = format!("{case:?} {level:?}");
        assert_eq!((status, took), (expected, together.len()), "{what}");
        // By hand, from a buffer: each load's offset is mod 2^32, its scalars follow.
        for i in (0..all).filter(|_| code == Code::LD_BUF) {
            for l in x.active() {
                let o = at[l].wrapping_add(imm + c).wrapping_add((i / n) as u32 * part) as u64;
                let (o, bytes) = (o as usize + i % n * mem.bytes() as usize, mem.bytes() as usize);
                let mut word = [0; 4];
                if let Some(found) = memory.get(o..o + bytes) {
                    word[..bytes].copy_from_slice(found);
                }
                let word = match mem {
                    Mem::F16 => half::f16::from_le_bytes([word[0], word[1]]).to_f32().to_bits(),
                    _ => u32::from_le_bytes(word),
                };
                assert_eq!(x.get(result(i), l), word, "{what}: scalar {i} lane {l}");
            }
        }
        for i in 0..all {
            for l in x.active() {
                assert_eq!(x.get(result(i), l), y.get(result(i), l), "{what}: scalar {i} lane {l}");
            }
        }
        assert_eq!(counts(&x.row), counted, "{what}: counts");
    }
}

#[test]
fn are_what_single_loads_are() {
    let mut r = Random::new(78);
    for code in [Code::LD_BUF, Code::LD_GLOBAL, Code::LD_SHARED] {
        for (mem, parts, n) in [
            (Mem::B32, 2, 1),
            (Mem::B32, 3, 1),
            (Mem::B32, 4, 1),
            (Mem::B32, 2, 2),
            (Mem::F16, 2, 1),
            (Mem::F16, 2, 2),
            (Mem::F16, 4, 1),
            (Mem::F16, 4, 2),
            (Mem::F16, 2, 4),
            (Mem::F16, 6, 1),
            (Mem::U16, 2, 2),
            (Mem::U16, 8, 1),
            (Mem::U8, 4, 1),
            (Mem::U8, 2, 4),
            (Mem::U8, 16, 1),
            // Ordinary ones.
            (Mem::B32, 1, 2),
            (Mem::B32, 1, 4),
            (Mem::F16, 1, 1),
            (Mem::F16, 1, 2),
            (Mem::F16, 1, 4),
            (Mem::U16, 1, 1),
            (Mem::U16, 1, 2),
            (Mem::U16, 1, 4),
        ] {
            for k in 0..60 {
                check(&mut r, Case { code, mem, parts, n, traced: k % 2 == 0 });
            }
        }
    }
}
