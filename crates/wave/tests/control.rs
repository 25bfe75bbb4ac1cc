//! Control flow, packing, barriers.

// Lanes are indices of several arrays.
use crate::common::*;
use shader::bytecode::*;
use shader::ir::{Bin, Input, Mem, Ty};
use simd::Level;
use std::time::Duration;
use wave::{Fault, Stop, Worker};

const N: Reg = Reg::NONE;
const B32: u16 = Mem::B32 as u16;

/// Byte offsets 4·i for the invocation's index: a table in buffer 1 (there is no arithmetic in these tests).
fn offsets(n: u32) -> Vec<u8> {
    words(&(0..n).map(|i| i * 4).collect::<Vec<_>>())
}

/// A loop whose trip count depends on the lane: y = chain of x = next[x] until 0, counting in a list of successors.
#[test]
fn loops_end_lane_by_lane() {
    for lanes in [64, 128, 256] {
        let mut a = Asm::new(lanes, [lanes, 1, 1]);
        let index = a.input(Input::LocalIndex);
        let (out, next) = (a.desc(0, 0), a.desc(0, 1));
        let (x, zero, n4) = (a.v(), a.c(0), a.v());
        let (count, more, done, exec0) = (a.v(), a.v(), a.m(), a.m());
        // n4 = index · 4, count = x = n4
        a.op(Code::LD_BUF, n4, index, next, N, mem_bits(Mem::U8, 1), 4096);
        a.op(Code::GETEXEC, exec0, N, N, N, 0, 0);
        a.op(Code::MASK_CLEAR, done, N, N, N, 0, 0);
        a.op(Code::MOVM32, x, n4, N, N, 0, 0);
        a.op(Code::MOVM32, count, zero, N, N, 0, 0);
        let head = a.here();
        // while x != 0: x = next[x]; count = successor(count)
        let leave = a.op(Code::CMP_PARK, N, x, zero, N, Bin::IEq as u16, 0);
        a.ext(&[done]);
        a.op(Code::LD_BUF, x, x, next, N, B32, 0);
        // Loads may write lanes that have left; what must survive is moved under the mask.
        a.op(Code::LD_BUF, more, count, next, N, mem_bits(Mem::U8, 1), 8192);
        a.op(Code::MOVM32, count, more, N, N, 0, 0);
        a.op(Code::LOOP, N, N, N, N, 0, head);
        a.land(leave);
        a.op(Code::SETEXEC, N, done, N, N, 0, 0);
        a.op(Code::ST_BUF, count, n4, out, N, B32, 0);
        a.end();
        let n = lanes as usize;
        // next[i] = i − 4 · (1 + i/4 % 3), down to 0
        let mut table = vec![0u8; 8192 + 256];
        for i in 0..n {
            let to = i.saturating_sub(1 + i % 3) * 4;
            table[i * 4..][..4].copy_from_slice(&(to as u32).to_le_bytes());
        }
        // Offsets beyond 255 do not fit bytes: lanes are counted by 64 words at most; see below.
        for i in 0..n.min(64) {
            table[4096 + i] = (i * 4) as u8;
        }
        for i in 0..256 {
            table[8192 + i] = (i as u8).wrapping_add(1);
        }
        let mut want = vec![0u32; 64];
        for (i, w) in want.iter_mut().enumerate() {
            let mut x = i;
            while x != 0 {
                x = x.saturating_sub(1 + x % 3);
                *w += 1;
            }
        }
        // Lanes from 64 on have offset 0 (the table is 0 there): they store count 0 to word 0, as lane 0 does.
        Run::new(&a.p, vec![vec![0xEE; 256], table]).expect(&want);
    }
}

/// Both sides of a branch run for the right lanes and meet again, with and without rare splits.
#[test]
fn branches_split_and_meet() {
    for (code, threshold) in [
        (Code::CMP_SPLIT, 77u32),
        (Code::CMP_SPLIT, 0),
        (Code::CMP_SPLIT, 500),
        (Code::CMP_SPLIT_RARE, 77),
        (Code::CMP_SPLIT_RARE, 0),
        (Code::CMP_SPLIT_RARE, 500),
    ] {
        let mut a = Asm::new(256, [256, 1, 1]);
        let index = a.input(Input::LocalIndex);
        let (out, tab) = (a.desc(0, 0), a.desc(0, 1));
        let (o, r, limit) = (a.v(), a.v(), a.c(threshold));
        let (ten, twenty) = (a.c(10), a.c(20));
        let (yes, no, wait) = (a.m(), a.m(), a.m());
        a.op(Code::LD_BUF, o, index, tab, N, mem_bits(Mem::U8, 1), 0);
        let rare = code == Code::CMP_SPLIT_RARE;
        if rare {
            a.op(Code::MOVM32, r, twenty, N, N, 0, 0);
        }
        a.op(Code::MASK_CLEAR, wait, N, N, N, 0, 0);
        let split = a.op(code, N, index, limit, N, Bin::ULt as u16, 0);
        a.ext(&[yes, no]);
        a.op(Code::MOVM32, r, ten, N, N, 0, 0);
        if rare {
            let j = a.op(Code::JOIN, N, no, N, N, 0, 0);
            a.land(j);
            a.land(split);
        } else {
            let p = a.op(Code::PARK, wait, N, N, N, 0, 0);
            a.land(p);
            a.land(split);
            let e = a.op(Code::SETEXEC, N, no, N, N, 0, 0);
            a.op(Code::MOVM32, r, twenty, N, N, 0, 0);
            a.op(Code::OREXEC, wait, N, N, N, 0, 0);
            a.land(e);
            a.op(Code::SETEXEC, N, wait, N, N, 0, 0);
        }
        a.op(Code::ST_BUF, r, index, out, N, mem_bits(Mem::U8, 1), 0);
        a.end();
        let want: Vec<u8> = (0..256u32).map(|i| if i < threshold { 10 } else { 20 }).collect();
        Run::new(&a.p, vec![vec![0; 256], vec![0; 256]]).expect(&to_words(&want));
    }
}

#[test]
fn every_comparison() {
    let bins =
        [Bin::FEq, Bin::FNe, Bin::FLt, Bin::FLe, Bin::IEq, Bin::INe, Bin::SLt, Bin::SLe, Bin::ULt, Bin::ULe];
    let vals = [0u32, 1, 0x8000_0000, 0x7FC0_0000, 0x3F80_0000, 0xBF80_0000, 0xFFFF_FFFF, 0x7F80_0000];
    let pair = |i: u32| (vals[i as usize % 8], vals[i as usize / 8 % 8]);
    let cases = bins.into_iter().flat_map(|bin| [(bin, false), (bin, true)]);
    for (bin, keeps) in cases {
        for negate in [0u16, 0x100] {
            let mut a = Asm::new(64, [64, 1, 1]);
            a.p.keeps_denormals = keeps;
            let o = a.input(Input::LocalIndex);
            let (out, tab) = (a.desc(0, 0), a.desc(0, 1));
            let (x, y, o4, one) = (a.v(), a.v(), a.v(), a.c(1));
            let (yes, no) = (a.m(), a.m());
            a.op(Code::LD_BUF, o4, o, tab, N, mem_bits(Mem::U8, 1), 0);
            a.op(Code::LD_BUF, x, o4, tab, N, B32, 256);
            a.op(Code::LD_BUF, y, o4, tab, N, B32, 512);
            let s = a.op(Code::CMP_SPLIT, N, x, y, N, bin as u16 | negate, 0);
            a.ext(&[yes, no]);
            a.op(Code::ST_BUF, one, o4, out, N, B32, 0);
            a.land(s);
            a.end();
            let mut tab: Vec<u8> = (0..256u32).map(|i| (i * 4) as u8).collect();
            tab.extend(words(&(0..64).map(|i| pair(i).0).collect::<Vec<_>>()));
            tab.extend(words(&(0..64).map(|i| pair(i).1).collect::<Vec<_>>()));
            let want: Vec<u32> = (0..64)
                .map(|i| {
                    let (x, y) = pair(i);
                    let float = |bits: u32| {
                        let f = f32::from_bits(bits);
                        if f.is_subnormal() && !keeps { 0.0 } else { f }
                    };
                    let (f, g) = (float(x), float(y));
                    let r = match bin {
                        Bin::FEq => f == g,
                        Bin::FNe => f != g,
                        Bin::FLt => f < g,
                        Bin::FLe => f <= g,
                        Bin::IEq => x == y,
                        Bin::INe => x != y,
                        Bin::SLt => (x as i32) < y as i32,
                        Bin::SLe => x as i32 <= y as i32,
                        Bin::ULt => x < y,
                        _ => x <= y,
                    };
                    (r != (negate != 0)) as u32
                })
                .collect();
            Run::new(&a.p, vec![vec![0; 256], tab]).expect(&want);
        }
    }
}

/// 20 invocations a workgroup: two warps each, the second partly empty; four workgroups a wave of 128, tail included.
#[test]
fn packed_workgroups() {
    let mut a = Asm::new(128, [5, 4, 1]);
    a.p.packed = true;
    a.p.shared_bytes = 100;
    let ids = a.input(Input::LocalIndex);
    let (gx, gy) = (a.input(Input::WorkgroupId(0)), a.input(Input::WorkgroupId(1)));
    let (lx, ly) = (a.input(Input::LocalId(0)), a.input(Input::LocalId(1)));
    let (lane, sub) = (a.input(Input::SubgroupLane), a.input(Input::SubgroupId));
    let nsub = a.input_u(Input::NumSubgroups);
    let (ng, out) = (a.input_u(Input::NumWorkgroups(1)), a.desc(0, 0));
    let (row, t, o) = (a.v(), a.desc(0, 1), a.v());
    let seen = a.v();
    // Each workgroup's row of the output: table[(gy & 255) · … ] by bytes: gy in 3..6, gx in 2..9
    a.op(Code::LD_BUF, row, gy, t, N, mem_bits(Mem::U8, 1), 0);
    let (x8, sum) = (a.v(), a.v());
    a.op(Code::LD_BUF, x8, gx, t, N, mem_bits(Mem::U8, 1), 64);
    // address = base(gy) · 7 + base(gx) by atomics on a word of workgroup memory: add both, read back
    let zero = a.c(0);
    a.op(Code::ST_SHARED, zero, N, N, N, B32, 80);
    a.op(Code::BARRIER, N, N, N, N, 0, 0);
    // lane 0 of the workgroup adds
    let (yes, no) = (a.m(), a.m());
    let s = a.op(Code::CMP_SPLIT, N, ids, zero, N, Bin::IEq as u16, 0);
    a.ext(&[yes, no]);
    a.op(Code::AT_SHARED, N, N, N, N, atomic_bits(Mem::B32, shader::ir::AtomicOp::IAdd), 80);
    a.ext(&[row, N]);
    a.op(Code::AT_SHARED, N, N, N, N, atomic_bits(Mem::B32, shader::ir::AtomicOp::IAdd), 80);
    a.ext(&[x8, N]);
    a.land(s);
    let j = a.op(Code::JOIN, N, no, N, N, 0, 0);
    a.land(j);
    a.op(Code::LD_SHARED, sum, N, N, N, B32, 80);
    // shared byte [ids] = ids; then read the workgroup's byte 19 − ids is ids' own partner
    a.op(Code::ST_SHARED, ids, ids, N, N, mem_bits(Mem::U8, 1), 0);
    a.op(Code::LD_BUF, o, ids, t, N, mem_bits(Mem::U8, 1), 128);
    a.op(Code::LD_SHARED, seen, o, N, N, mem_bits(Mem::U8, 1), 0);
    // out[sum · 256 + field · 20 + ids] as bytes; sum·256 by a table of words
    let (word, at) = (a.v(), a.v());
    a.op(Code::LD_BUF, word, sum, t, N, mem_bits(Mem::U8, 1), 192);
    a.op(Code::LD_BUF, at, word, t, N, B32, 256);
    let fields = [seen, lx, ly, lane, sub, gx, gy, nsub, ng];
    // There is no addition here: ids picks the byte within a field through a varying descriptor.
    let dv = a.v64();
    a.op(Code::DESC, dv, ids, N, N, 0, 64);
    a.words([32, 20, 0, 0]);
    for (i, f) in fields.iter().enumerate() {
        a.op(Code::ST_BUF, *f, at, dv, N, mem_bits(Mem::U8, 1), i as u32 * 20);
    }
    let _ = out;
    a.end();
    // 21 workgroups: gx in 2..9, gy in 3..6
    let n = 21;
    let mut t = vec![0u8; 512];
    t[3..6].copy_from_slice(&[0, 7, 14]);
    for gx in 2..9 {
        t[64 + gx] = (gx - 2) as u8;
    }
    for i in 0..20 {
        t[128 + i] = 19 - i as u8;
    }
    for g in 0..n {
        t[192 + g] = (g * 4) as u8;
        t[256 + g * 4..][..4].copy_from_slice(&((g * 256) as u32).to_le_bytes());
    }
    let mut want = vec![0u8; n * 256];
    for g in 0..n {
        for i in 0..20 {
            let f = [19 - i, i % 5, i / 5, i % 16, i / 16, g % 7 + 2, g / 7 + 3, 2, 3];
            for (k, f) in f.iter().enumerate() {
                want[g * 256 + k * 20 + i] = *f as u8;
            }
        }
    }
    // Descriptors 2 .. 22 all name the output, each a byte further.
    for level in levels() {
        let mut out = vec![0u8; n * 256];
        let mut tab = t.clone();
        let mut descs = vec![[0u64; 4]; 22];
        descs[1] = [tab.as_mut_ptr() as u64, 512, 0, 0];
        for i in 0..20 {
            descs[2 + i] = [out.as_mut_ptr() as u64 + i as u64, (n * 256 - i) as u64, 0, 0];
        }
        let tables = [wave::Table { ptr: descs.as_ptr() as *const u8, size: 22 * 32 }];
        let host = TestHost::default();
        let d = wave::Dispatch {
            serial: 5,
            program: &a.p,
            tables: &tables,
            push: &[],
            host: &host,
            base: [2, 3, 0],
            groups: [7, 3, 1],
            arena: wave::Arena::NONE,
            draw: [0; 2],
        };
        let mut w = Worker::new(level);
        w.run(&d, 0, 5).unwrap();
        w.run(&d, 5, 100).unwrap();
        assert_eq!(out, want, "{level:?}");
    }
}

/// 1024 invocations on waves of 64, 128 and 256: each writes, all wait, each reads what another wave wrote.
#[test]
fn barrier_of_1024_invocations() {
    for lanes in [64, 128, 256] {
        let mut a = Asm::new(lanes, [32, 32, 1]);
        a.p.shared_bytes = 4096;
        let i = a.input(Input::LocalIndex);
        let (out, t) = (a.desc(0, 0), a.desc(0, 1));
        let (o2, o, r, x) = (a.v(), a.v(), a.v(), a.v());
        let k = a.v();
        // A 16-bit cell an invocation.
        let (i2, o2x) = (a.v(), a.v());
        a.op(Code::bin(Bin::IAdd, Ty::B32), i2, i, i, N, 0, 0);
        a.op(Code::ST_SHARED, i, i2, N, N, mem_bits(Mem::U16, 1), 0);
        a.op(Code::BARRIER, N, N, N, N, 0, 0);
        a.op(Code::LD_SHARED, k, i2, N, N, mem_bits(Mem::U16, 1), 0);
        a.op(Code::BARRIER, N, N, N, N, 0, 0);
        // each byte address: x = table16 at … through push-free loads
        a.op(Code::ST_SHARED, i, i2, N, N, mem_bits(Mem::U16, 1), 1024);
        let z = a.c(0);
        a.op(Code::LD_BUF, o2, k, t, N, mem_bits(Mem::U8, 1), 0);
        let _ = (z, o2);
        a.op(Code::BARRIER, N, N, N, N, 0, 0);
        // partner 1023 − i: words of the table at 1024 + 4·i
        a.op(Code::LD_SHARED, x, i2, N, N, mem_bits(Mem::U16, 1), 1024);
        // o = 2·x from a u16 table: buffer 2 is indexed by LocalIndex bytes … stored as words by descriptor stride
        let dv = a.v64();
        a.op(Code::DESC, dv, x, N, N, 0, 96);
        a.words([32, 1024, 0, 0]);
        a.op(Code::LD_BUF, o, N, dv, N, B32, 0);
        a.op(Code::bin(Bin::IAdd, Ty::B32), o2x, o, o, N, 0, 0);
        a.op(Code::LD_SHARED, r, o2x, N, N, mem_bits(Mem::U16, 1), 1024);
        a.op(Code::ST_BUF, r, N, dv, N, B32, 4);
        let _ = out;
        a.end();
        for level in levels() {
            // One 8-byte buffer an invocation: its partner's index, and the answer.
            let mut cells: Vec<[u32; 2]> = (0..1024).map(|i| [1023 - i, 0]).collect();
            let mut t = vec![0u8; 2048];
            let mut descs = vec![[0u64; 4]; 3 + 1024];
            descs[1] = [t.as_mut_ptr() as u64, 2048, 0, 0];
            for (i, c) in cells.iter_mut().enumerate() {
                descs[3 + i] = [c.as_mut_ptr() as u64, 8, 0, 0];
            }
            let tables = [wave::Table { ptr: descs.as_ptr() as *const u8, size: descs.len() as u64 * 32 }];
            let host = TestHost::default();
            let d = wave::Dispatch {
                serial: 0,
                program: &a.p,
                tables: &tables,
                push: &[],
                host: &host,
                base: [0; 3],
                groups: [1; 3],
                arena: wave::Arena::NONE,
                draw: [0; 2],
            };
            Worker::new(level).run(&d, 0, 1).unwrap();
            for (i, c) in cells.iter().enumerate() {
                assert_eq!(c[1], 1023 - i as u32, "{level:?} {lanes} lanes, invocation {i}");
            }
        }
    }
}

/// Some waves end before the barrier that others reach: nothing hangs.
#[test]
fn ended_waves_are_not_waited_for() {
    let mut a = Asm::new(64, [256, 1, 1]);
    let sub = a.input_u(Input::SubgroupId);
    let i = a.input(Input::LocalIndex);
    let (out, two) = (a.desc(0, 0), a.c(8));
    // The first two waves (warps 0 to 7 start at 0 and 4) end at once.
    let j = a.op(Code::CMP_JMP, N, sub, two, N, Bin::ULt as u16, 0);
    a.op(Code::BARRIER, N, N, N, N, 0, 0);
    a.op(Code::ST_BUF, two, i, out, N, mem_bits(Mem::U8, 1), 0);
    a.land(j);
    a.end();
    let want: Vec<u8> = (0..256).map(|i| if i < 128 { 0 } else { 8 }).collect();
    Run::new(&a.p, vec![vec![0; 256]]).expect(&to_words(&want));
}

#[test]
fn endless_loops_are_ended() {
    let mut a = Asm::new(256, [256, 1, 1]);
    let head = a.here();
    a.op(Code::FENCE, N, N, N, N, 0, 0);
    a.op(Code::LOOP, N, N, N, N, 0, head);
    a.end();
    for level in levels() {
        let mut r = Run::new(&a.p, vec![]);
        r.host.stop_after = 3;
        assert_eq!(r.go(level), Err(Stop { fault: Fault::Stopped, op: head + 1 }));
        let mut r = Run::new(&a.p, vec![]);
        r.host.wave_time = Duration::from_millis(2);
        assert_eq!(r.go(level), Err(Stop { fault: Fault::Watchdog, op: head + 1 }));
    }
}

/// A wave's time is its own: with none at all it may ask once (every 4096 iterations), and how many waves came before it does
/// not matter. Waves that meet at barriers share theirs.
#[test]
fn waves_that_end_are_not_ended_however_many() {
    for (side, groups) in [(64, 40), (256, 10)] {
        let program = |iterations| {
            let mut a = Asm::new(64, [side, 1, 1]);
            let (zero, one, n, i) = (a.c(0), a.c(1), a.c(iterations), a.u());
            a.op(Code::bin(Bin::IAdd, Ty::B32), i, zero, zero, N, 0, 0);
            let head = a.here();
            let leave = a.op(Code::CMP_JMP, N, i, n, N, Bin::IEq as u16, 0);
            a.op(Code::bin(Bin::IAdd, Ty::B32), i, i, one, N, 0, 0);
            a.op(Code::BARRIER, N, N, N, N, 0, 0);
            let end = a.op(Code::LOOP, N, N, N, N, 0, head);
            a.land(leave);
            a.end();
            (a.p, end as u32)
        };
        for level in levels() {
            let go = |p: &Program| {
                let mut r = Run::new(p, vec![]);
                r.groups = [groups, 1, 1];
                r.host.wave_time = Duration::ZERO;
                let went = r.go(level).map(drop);
                (went, r.host.asked.into_inner())
            };
            let (went, asked) = go(&program(4000).0);
            assert_eq!(went, Ok(()));
            assert!(asked >= 9, "{asked}");
            let (p, end) = program(9000);
            assert_eq!(go(&p).0, Err(Stop { fault: Fault::Watchdog, op: end }));
        }
    }
}

#[test]
fn unknown_code_is_a_fault() {
    let mut a = Asm::new(64, [1, 1, 1]);
    a.op(Code(1000), N, N, N, N, 0, 0);
    a.end();
    assert_eq!(Run::new(&a.p, vec![]).go(Level::PORTABLE), Err(Stop { fault: Fault::Code(1000), op: 0 }));
}

/// The prologue's registers stay valid over waves and runs; push constants reach it.
#[test]
fn prologue_runs_once_and_holds() {
    let mut a = Asm::new(64, [64, 1, 1]);
    let out = a.desc(0, 0);
    let v = a.u();
    a.op(Code::LD_PUSH, v, N, N, N, B32, 4);
    let outside = a.u();
    a.op(Code::LD_PUSH, outside, N, N, N, B32, 6);
    a.p.prologue = a.here();
    let g = a.input_u(Input::WorkgroupId(0));
    let (o, t) = (a.u(), a.desc(0, 1));
    a.op(Code::LD_BUF, o, g, t, N, mem_bits(Mem::U8, 1), 0);
    a.op(Code::ST_BUF, v, o, out, N, B32, 0);
    a.op(Code::ST_BUF, outside, o, out, N, B32, 20);
    a.end();
    let mut r = Run::new(&a.p, vec![words(&[9; 10]), (0..5).map(|i| i * 4).collect()]);
    r.push = words(&[1, 0xABCD]);
    r.groups = [5, 1, 1];
    r.expect(&[0xABCD, 0xABCD, 0xABCD, 0xABCD, 0xABCD, 0, 0, 0, 0, 0]);
    let _ = offsets(1);
}

/// 2×2 blocks of ids in consecutive lanes.
#[test]
fn quads_are_blocks() {
    use wave::packing::local_id;
    assert_eq!(
        (0..8).map(|i| local_id([4, 4, 1], i, true)).collect::<Vec<_>>(),
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 0, 0], [3, 0, 0], [2, 1, 0], [3, 1, 0]]
    );
    assert_eq!(local_id([4, 4, 2], 16 + 9, true), [1, 2, 1]);
    assert_eq!(local_id([4, 4, 2], 16 + 9, false), [1, 2, 1]);
    assert_eq!(local_id([3, 5, 2], 17, false), [2, 0, 1]);
}
