//! Cache lines that an instrumented program's loads and stores touch, lane by lane, against sets of lines.

// Lanes are indices of several arrays.
use crate::common::lab::{Lab, masks, memory_ops};
use crate::common::{TestHost, levels};
use random::Random;
use shader::bytecode::*;
use shader::ir::{AtomicOp, Mem};
use std::collections::BTreeSet;
use wave::cache::{Cache, Sizes, TexelTrace, Trace, Traced};
use wave::tally::{Access, AccessKind, Row};

const N: Reg = Reg::NONE;
/// Registers: offsets or addresses, second addend (varying, uniform), descriptor, data (32 units a component).
const A: Reg = Reg(0);
const UC: Reg = Reg(48 | Reg::UNIFORM);
const UB: Reg = Reg(50 | Reg::UNIFORM);
fn data(i: usize) -> Reg {
    Reg(64 + i as u16 * 32)
}

fn ops(code: Code, b: Reg, c: Reg, mem: Mem, n: usize, imm: u32, shape: u16) -> Vec<Op> {
    memory_ops(Op { code, d: N, a: A, b, c, e: mem_bits(mem, n as u8) | shape, imm }, (0..n).map(data))
}

/// What the row is to hold after one op: `at[lane]` are the places, counted from a line's begin.
fn model(load: bool, exec: &[u16; 16], at: &[u64], bytes: u64, shape: u16) -> Row {
    let mut row = Row::default();
    let (full, partial, kind) = match load {
        true => (Access::ReadFull, Access::ReadPartial, AccessKind::Read),
        false => (Access::WriteFull, Access::WritePartial, AccessKind::Write),
    };
    // Where they are not all counted, words of whole waves are told.
    let usual = bytes == 4 && exec.iter().all(|e| *e == 0xFFFF);
    for w in 0..16 {
        let lanes: Vec<u64> = (0..16).filter(|l| exec[w] >> l & 1 != 0).map(|l| at[w * 16 + l]).collect();
        let lines: BTreeSet<u64> = lanes.iter().flat_map(|a| a / 64..=(a + bytes - 1) / 64).collect();
        if lanes.is_empty() {
            continue;
        }
        let n = lines.len() as u64;
        let told = lanes.len() == 16 && shape != 0;
        let many = lanes.iter().any(|a| *a != lanes[0]) || (told && shape == SHAPE_RUN);
        let whole = lanes.len() == 16 && many && 16 * bytes >= 64 * n;
        row.lines[if whole { full } else { partial }] += n;
        if !told || !usual {
            row.sampled[kind] += 1;
            row.sampled_lines[kind] += n;
        }
    }
    row
}

/// Offsets of one warp, near `base`: what the kernels have paths for, and their edges.
fn spread(r: &mut Random, base: u32, step: u32) -> [u32; 16] {
    let lane = r.below(16) as usize;
    let mut o = match r.below(9) {
        0 => [base; 16],
        // 64 lines of which the first and the last are touched, one more, one less.
        1 => {
            let span = 62 + r.below(4);
            std::array::from_fn(|i| base.wrapping_add(if i == lane { span * 64 } else { i as u32 % 3 * 64 }))
        }
        2 => std::array::from_fn(|_| r.below(4096)),
        3 => std::array::from_fn(|_| base.wrapping_add(r.below(4096))),
        4 => std::array::from_fn(|_| base.wrapping_sub(2048).wrapping_add(r.below(4096))),
        // Few lines, anywhere.
        5 => {
            let few: [u32; 5] = std::array::from_fn(|_| r.u32());
            std::array::from_fn(|_| few[r.below(5) as usize].wrapping_add(r.below(64)))
        }
        6 => std::array::from_fn(|i| base.wrapping_add(i as u32 * 64 * (1 + lane as u32 * 37))),
        7 => std::array::from_fn(|i| base.wrapping_add(i as u32 * step)),
        _ => std::array::from_fn(|_| r.u32()),
    };
    // Mostly aligned, as programs' are.
    if r.below(4) != 0 {
        o.iter_mut().for_each(|x| *x &= !(step.min(4) - 1));
    }
    // The wrap-around at 2^32, and the middle of the range, among others.
    if r.below(4) == 0 {
        o[r.below(16) as usize] =
            [0, 60, 63, u32::MAX, u32::MAX - 3, u32::MAX - 63, 1 << 31][r.below(7) as usize];
    }
    o
}

fn base(r: &mut Random) -> u32 {
    match r.below(5) {
        0 => r.below(1 << 16),
        1 => 0u32.wrapping_sub(r.below(8192)),
        2 => r.below(128),
        _ => r.u32(),
    }
}

fn mask(r: &mut Random) -> [u16; 16] {
    if r.below(3) == 0 { [0xFFFF; 16] } else { masks(r) }
}

const KINDS: [(Mem, usize); 10] = [
    (Mem::B32, 1),
    (Mem::B32, 1),
    (Mem::U8, 1),
    (Mem::U16, 1),
    (Mem::F16, 1),
    (Mem::B64, 1),
    (Mem::B32, 3),
    (Mem::B32, 4),
    (Mem::B32, 16),
    (Mem::B64, 16),
];

#[test]
fn lines_of_offsets() {
    let host = TestHost::default();
    for level in levels() {
        let mut r = Random::new(0x11E5_0FF5);
        let mut memory = vec![0u8; 1 << 13];
        for turn in 0..4000 {
            let (mem, n) = KINDS[r.below(KINDS.len() as u32) as usize];
            let bytes = mem.bytes() as u64 * n as u64;
            let code = [Code::LD_BUF, Code::ST_BUF, Code::LD_SHARED, Code::ST_SHARED][r.below(4) as usize];
            let is_buffer = matches!(code, Code::LD_BUF | Code::ST_BUF);
            let exec = mask(&mut r);
            let mut lab = Lab::new(64 + n * 32, exec);
            // A region that begins anywhere in its line; in device memory that shows.
            let begin = memory.as_mut_ptr() as u64 + r.below(128) as u64 / [1, 4][r.below(2) as usize] * 4;
            let region = [begin, 4096];
            let seen = r.below(4) != 0;
            // No more than the memory, or what is allocated beside it would be taken for the device's.
            let all = memory.as_ptr() as u64;
            lab.arena = if seen { wave::Arena::of(all, all + (1 << 13)) } else { wave::Arena::NONE };
            let counted = if seen && is_buffer { begin } else { 0 };
            lab.shared = vec![0; 512];
            lab.set_u64(UB, region.as_ptr() as u64);
            let (imm, uniform) = match r.below(3) {
                0 => (0, 0),
                1 => (r.below(256) * 4, r.below(256) * 4),
                _ => (r.u32() & !3, r.u32() & !3),
            };
            let c = [N, UC][r.below(2) as usize];
            lab.set_u(UC, uniform);
            let k = imm.wrapping_add(if c == UC { uniform } else { 0 });
            let around = base(&mut r);
            let mut at = vec![0; 256];
            for w in 0..16 {
                let o = spread(&mut r, around, bytes.min(64) as u32);
                for l in 0..16 {
                    lab.set(A, w * 16 + l, o[l].wrapping_sub(k));
                    at[w * 16 + l] = counted + o[l] as u64;
                }
            }
            let load = matches!(code, Code::LD_BUF | Code::LD_SHARED);
            let b = if is_buffer { UB } else { N };
            lab.traced = r.below(2) == 0;
            let row = model(load, &exec, &at, bytes, 0);
            let lines = row.lines.sum() * lab.traced as u64;
            lab.run(level, &ops(code, b, c, mem, n, imm, 0), &host);
            assert_eq!(
                (lab.row, lab.looked_up.0),
                (row, lines),
                "{level:?} {turn} {code:?} {mem:?}×{n} {exec:x?}"
            );
        }
    }
}

#[test]
fn lines_of_runs() {
    let host = TestHost::default();
    for level in levels() {
        let mut r = Random::new(0x5EED);
        for turn in 0..1000 {
            let (mem, n) = KINDS[r.below(9) as usize];
            let bytes = mem.bytes() * n as u32;
            let exec = mask(&mut r);
            let mut lab = Lab::new(64 + n * 32, exec);
            lab.shared = vec![0; 2048];
            let shape = [SHAPE_RUN, SHAPE_SAME][r.below(2) as usize];
            let step = if shape == SHAPE_RUN { bytes } else { 0 };
            let mut at = vec![0; 256];
            for w in 0..16 {
                let base = r.below(1024) * 4;
                for l in 0..16 {
                    // The shape speaks of full warps only.
                    let o = if exec[w] == 0xFFFF { base + l as u32 * step } else { base + r.below(512) };
                    lab.set(A, w * 16 + l, o);
                    at[w * 16 + l] = o as u64;
                }
            }
            // A load that is counted with its block counts nothing here.
            let single = if shape == SHAPE_SAME && r.below(3) == 0 { SHAPE_SINGLE } else { 0 };
            lab.traced = r.below(2) == 0;
            lab.run(level, &ops(Code::LD_SHARED, N, N, mem, n, 0, shape | single), &host);
            let row = model(true, &exec, &at, bytes as u64, shape);
            let lines = row.lines.sum() * lab.traced as u64;
            let row = if single != 0 { Row::default() } else { row };
            assert_eq!(
                (lab.row, lab.looked_up.0),
                (row, lines),
                "{level:?} {turn} {mem:?}×{n} {shape:x} {exec:x?}"
            );
        }
    }
}

#[test]
fn lines_of_addresses() {
    let host = TestHost::default();
    for level in levels() {
        let mut r = Random::new(0xADD);
        let mut memory = vec![0u8; 1 << 20];
        let begin = memory.as_mut_ptr() as u64 + 4096;
        let room = (1 << 20) - 8192;
        for turn in 0..2000 {
            let (mem, n) = KINDS[r.below(KINDS.len() as u32) as usize];
            let bytes = mem.bytes() as u64 * n as u64;
            let code = [Code::LD_GLOBAL, Code::ST_GLOBAL][r.below(2) as usize];
            let exec = mask(&mut r);
            let mut lab = Lab::new(64 + n * 32, exec);
            lab.arena = wave::Arena::of(begin, begin + room);
            let imm = r.below(2) * 1000;
            let mut at = vec![0; 256];
            for w in 0..16 {
                let around = r.below(room as u32);
                let o = spread(&mut r, around, bytes.min(64) as u32);
                for l in 0..16 {
                    // Lanes that are not active may be anywhere; so may others, of whom the first that faults ends it.
                    let a = match r.below(if exec[w] >> l & 1 == 0 { 2 } else { 400 }) {
                        0 => r.u64(),
                        _ => begin + o[l] as u64 % (room - 1024),
                    };
                    lab.set64(A, w * 16 + l, a.wrapping_sub(imm as u64));
                    at[w * 16 + l] = a.min(u64::MAX - 4096);
                }
            }
            lab.traced = r.below(2) == 0;
            let row = model(code == Code::LD_GLOBAL, &exec, &at, bytes, 0);
            let lines = row.lines.sum() * lab.traced as u64;
            lab.run(level, &ops(code, N, N, mem, n, imm, 0), &host);
            assert_eq!(
                (lab.row, lab.looked_up.0),
                (row, lines),
                "{level:?} {turn} {code:?} {mem:?}×{n} {exec:x?}"
            );
        }
    }
}

/// Each thread of an atomic counts, whichever it is; the caches see each line of a warp once.
#[test]
fn lines_of_atomics() {
    let host = TestHost::default();
    for level in levels() {
        let mut r = Random::new(0xA70);
        for at in AtomicOp::ALL {
            for code in [Code::AT_BUF, Code::AT_SHARED, Code::AT_GLOBAL] {
                for traced in [false, true] {
                    // Twice the device's: what is allocated after it would be taken for a sparse resource's (`Arena::of`).
                    let mut memory = vec![0u64; 600];
                    // Device memory begins with a line, buffers anywhere.
                    let begin = memory.as_mut_ptr() as u64 + 24;
                    let exec = mask(&mut r);
                    let mut lab = Lab::new(128, exec);
                    lab.traced = traced;
                    lab.arena = wave::Arena::of(begin & !63, begin + 2048);
                    lab.shared = vec![0; 2048];
                    let region = [begin, 2048];
                    lab.set_u64(UB, region.as_ptr() as u64);
                    let base = if code == Code::AT_SHARED { 0 } else { begin };
                    let mut all = BTreeSet::new();
                    for w in 0..16 {
                        let mut own = BTreeSet::new();
                        for l in 0..16 {
                            let o = r.below(512) * 4;
                            match code {
                                Code::AT_GLOBAL => lab.set64(A, w * 16 + l, begin + o as u64),
                                _ => lab.set(A, w * 16 + l, o),
                            }
                            if exec[w] >> l & 1 != 0 {
                                own.insert((base + o as u64) / 64);
                            }
                        }
                        all.extend(own);
                    }
                    let e = atomic_bits(Mem::B32, *at);
                    let ops = [
                        Op { code, d: data(0), a: A, b: UB, c: N, e, imm: 0 },
                        Op::ext([data(1), data(1), N, N, N, N, N, N]),
                    ];
                    lab.run(level, &ops, &host);
                    let mut row = Row::default();
                    row.lines[Access::Atomic] = lab.active().len() as u64;
                    // 2 KiB fit in the first cache; what is no device memory is nearer still.
                    let missed = if code == Code::AT_SHARED { 0 } else { all.len() as u64 };
                    let looked_up = if traced { (lab.active().len() as u64, missed) } else { (0, 0) };
                    assert_eq!((lab.row, lab.looked_up), (row, looked_up), "{level:?} {at:?} {code:?}");
                }
            }
        }
    }
}

#[test]
fn texels_have_an_l1_of_their_own_before_the_same_l2() {
    let (sizes, kind) = (Sizes::of_kib(16, 32, 2048), AccessKind::Read);
    let read = |c: &Cache| c.lines[kind as usize];
    let mut c = Cache::default();
    c.begin(sizes);
    c.access(kind, 7);
    assert_eq!(read(&c), Trace::new([1, 1, 1]));
    // The L2 holds line 7 since; 8 is nowhere.
    c.sample(&[7, 8], 0);
    assert_eq!(c.texels, TexelTrace { messages: 1, lines: Trace::new([2, 2, 1]) });
    c.sample(&[7, 8], 0);
    // Four more lines in the set of 8 drive it out of the L1, not out of the L2.
    c.sample(&[8 + 128, 8 + 256, 8 + 384, 8 + 512], 0);
    c.sample(&[8], 0);
    assert_eq!(c.texels, TexelTrace { messages: 4, lines: Trace::new([9, 7, 5]) });
    // Begun anew, it is empty, whatever it held.
    c.begin(sizes);
    c.sample(&[7], 0);
    c.access(kind, 8);
    assert_eq!((c.texels.lines[Traced::Far], read(&c)), (6, Trace::new([2, 2, 2])));
}

#[test]
fn caches_are_as_large_as_said_and_kinds_are_told_apart() {
    // 3 KiB are 12 sets of four lines, 5 KiB 20: loops over a cache's lines hit from the second time on, over one line more
    // in each set never.
    for (l1, lines, hits) in [(3, 48, true), (3, 60, false), (5, 80, true)] {
        let mut c = Cache::default();
        c.begin(Sizes::of_kib(l1, 1, 64));
        for _ in 0..3 {
            (0..lines).for_each(|l| c.access(AccessKind::Read, l));
            (0..lines).for_each(|l| c.access(AccessKind::Write, l));
        }
        // The first writes make the lines dirty, there and in the L2.
        let missed = if hits { lines } else { 3 * lines };
        let want = Trace::new([3 * lines, missed, lines]);
        assert_eq!(c.lines, [want, want, Trace::default()], "{l1} KiB, {lines} lines");
    }
}

#[test]
fn atomics_are_the_l2s() {
    let mut c = Cache::default();
    c.begin(Sizes::of_kib(16, 32, 2048));
    // A warp's sixteen threads on one line, twice; another line that was read before.
    for _ in 0..2 {
        c.access(AccessKind::Atomic, 3);
        c.atomics(16, 1);
    }
    c.access(AccessKind::Read, 5);
    c.access(AccessKind::Atomic, 5);
    assert_eq!(c.lines[AccessKind::Atomic as usize], Trace::new([33, 2, 1]));
    // Written, it is dirty there already.
    c.access(AccessKind::Write, 5);
    assert_eq!(c.lines[AccessKind::Write as usize], Trace::new([1, 1, 0]));
}
