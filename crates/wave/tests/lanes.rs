//! Atomics, subgroup operations, descriptors and images, lane by lane against plain models.

// Lanes are indices of several arrays.
use crate::common::lab::{Lab, masks};
use crate::common::{TestHost, levels};
use random::Random;
use shader::bytecode::*;
use shader::ir::{AtomicOp, Dim, ImageOp, Mem, Quad, ReduceOp, Scan, TexelType};
use std::sync::Mutex;
use wave::{Fault, Host, ImageWarp, ImageWave, Status};

const N: Reg = Reg::NONE;
const A: Reg = Reg(0);
const B: Reg = Reg(16);
const D: Reg = Reg(32);
const A64: Reg = Reg(64);
const B64: Reg = Reg(96);
const D64: Reg = Reg(128);
const UB: Reg = Reg(160 | Reg::UNIFORM);
const UA: Reg = Reg(162 | Reg::UNIFORM);
const UNITS: usize = 256;

fn op(code: Code, d: Reg, a: Reg, b: Reg, e: u16, imm: u32) -> Op {
    Op { code, d, a, b, c: N, e, imm }
}
fn ext(a: Reg, b: Reg) -> Op {
    Op::ext([a, b, N, N, N, N, N, N])
}

const INT_OPS: [AtomicOp; 13] = [
    AtomicOp::Load,
    AtomicOp::Store,
    AtomicOp::Exchange,
    AtomicOp::CompareExchange,
    AtomicOp::IAdd,
    AtomicOp::ISub,
    AtomicOp::SMin,
    AtomicOp::UMin,
    AtomicOp::SMax,
    AtomicOp::UMax,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
];

/// The new value of an integer atomic, worked out on its own.
fn int_atomic(op: AtomicOp, wide: bool, old: u64, a: u64, b: u64) -> u64 {
    let s = |x: u64| if wide { x as i64 } else { x as u32 as i32 as i64 };
    let r = match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => a,
        AtomicOp::CompareExchange => [old, a][(old == b) as usize],
        AtomicOp::IAdd => old.wrapping_add(a),
        AtomicOp::ISub => old.wrapping_sub(a),
        AtomicOp::SMin => [old, a][(s(a) < s(old)) as usize],
        AtomicOp::SMax => [old, a][(s(a) > s(old)) as usize],
        AtomicOp::UMin => [old, a][(a < old) as usize],
        AtomicOp::UMax => [old, a][(a > old) as usize],
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        _ => unreachable!(),
    };
    if wide { r } else { r as u32 as u64 }
}

#[test]
fn integer_atomics() {
    let mut r = Random::new(3);
    for at in INT_OPS {
        for wide in [false, true] {
            for shared in [false, true] {
                for kind in 0..6 {
                    let bytes = if wide { 8 } else { 4 };
                    let mem = if wide { Mem::B64 } else { Mem::B32 };
                    let mut lab = Lab::new(UNITS, masks(&mut r));
                    let memory: Vec<u64> = (0..64).map(|_| r.u64() & 0x8000_0003_8000_0003).collect();
                    // one place, per-warp places, random places, places beyond the end, three warps' places, one place
                    // of all warps but some
                    let off: Vec<u32> = (0..256u32)
                        .map(|l| match kind {
                            0 => 16,
                            1 => l / 16 * bytes,
                            2 => r.below(20) * bytes,
                            3 => r.below(140) * bytes,
                            4 => l / 48 * bytes,
                            _ if l / 16 % 5 == 2 => r.below(20) * bytes,
                            _ => 16,
                        })
                        .collect();
                    let (va, vb) = if wide { (A64, B64) } else { (B, Reg(176)) };
                    for l in 0..256 {
                        lab.set(A, l, off[l]);
                        for v in [va, vb] {
                            let x = r.u64() & 0x8000_0003_8000_0003;
                            if wide { lab.set64(v, l, x) } else { lab.set(v, l, x as u32) }
                        }
                    }
                    let code = if shared { Code::AT_SHARED } else { Code::AT_BUF };
                    // Nobody reads the result, now and then; a store has none.
                    let d = match (r.below(4), wide) {
                        _ if at == AtomicOp::Store => N,
                        (0, _) => N,
                        (_, true) => D64,
                        _ => D,
                    };
                    let ops = [op(code, d, A, UB, atomic_bits(mem, at), 0), ext(va, vb)];
                    for level in levels() {
                        let mut lab = lab.clone();
                        let mut m: Vec<u8> = memory.iter().flat_map(|w| w.to_le_bytes()).collect();
                        let mut model = m.clone();
                        let desc = [m.as_mut_ptr() as u64, 512, 0, 0];
                        lab.set_u64(UB, desc.as_ptr() as u64);
                        lab.shared = m.clone();
                        let before = lab.clone();
                        assert_eq!(lab.run(level, &ops, &TestHost::default()), (Status::Running, 2));
                        for l in lab.active() {
                            let get =
                                |r: Reg| if wide { before.get64(r, l) } else { before.get(r, l) as u64 };
                            let o = off[l] as usize;
                            let n = bytes as usize;
                            let mut want = 0;
                            if o + n <= 512 {
                                let mut old = [0; 8];
                                old[..n].copy_from_slice(&model[o..o + n]);
                                want = u64::from_le_bytes(old);
                                let new = int_atomic(at, wide, want, get(va), get(vb));
                                model[o..o + n].copy_from_slice(&new.to_le_bytes()[..n]);
                            }
                            if d.is_none() {
                                continue;
                            }
                            let got = if wide { lab.get64(d, l) } else { lab.get(d, l) as u64 };
                            assert_eq!(got, want, "{at:?} wide {wide} shared {shared} kind {kind} lane {l}");
                        }
                        let got = if shared { &lab.shared } else { &m };
                        assert!(*got == model, "{at:?} wide {wide} shared {shared} kind {kind} {level:?}");
                    }
                }
            }
        }
    }
}

/// Sums of floats that rounding makes depend on their order: lane after lane, over warps that share words.
#[test]
fn float_additions_keep_their_order() {
    let mut r = Random::new(11);
    for words in [1, 2, 7] {
        let mut lab = Lab::new(UNITS, masks(&mut r));
        let off: Vec<u32> =
            (0..256u32).map(|l| if words == 7 { r.below(7) } else { l / 16 % words } * 4).collect();
        for l in 0..256 {
            lab.set(A, l, off[l]);
            lab.set(B, l, ((r.u32() >> 8) as f32 / (1 << r.below(24)) as f32).to_bits());
        }
        let ops = [op(Code::AT_BUF, D, A, UB, atomic_bits(Mem::B32, AtomicOp::FAdd), 0), ext(B, N)];
        for level in levels() {
            let mut lab = lab.clone();
            let (mut m, mut model) = ([0f32; 7], [0f32; 7]);
            let desc = [m.as_mut_ptr() as u64, 28, 0, 0];
            lab.set_u64(UB, desc.as_ptr() as u64);
            let before = lab.clone();
            lab.run(level, &ops, &TestHost::default());
            for l in lab.active() {
                let word = &mut model[off[l] as usize / 4];
                assert_eq!(f32::from_bits(lab.get(D, l)), *word, "{level:?} lane {l}");
                *word += f32::from_bits(before.get(B, l));
            }
            assert_eq!(m, model, "{level:?}");
        }
    }
}

/// Float atomics of a full wave on one word, by hand.
#[test]
fn float_atomics() {
    for (at, mem, start, want) in [
        (AtomicOp::FAdd, Mem::B32, 1.5f64, 1.5 + 32640.0),
        (AtomicOp::FMin, Mem::B32, 3.0, 0.0),
        (AtomicOp::FMax, Mem::B32, 3.0, 255.0),
        (AtomicOp::FAdd, Mem::B64, 0.25, 32640.25),
        (AtomicOp::FMin, Mem::B64, -7.0, -7.0),
        (AtomicOp::FMax, Mem::F16, 3.0, 255.0),
        // Sums beyond 2048 lose ones in f16, lane after lane.
        (AtomicOp::FAdd, Mem::F16, 0.0, {
            let mut s = half::f16::from_f32(0.0);
            for l in 0..256 {
                s = half::f16::from_f32(s.to_f32() + l as f32);
            }
            s.to_f64()
        }),
    ] {
        let mut lab = Lab::new(UNITS, [0xFFFF; 16]);
        for l in 0..256 {
            lab.set(A, l, 8);
            lab.set(B, l, (l as f32).to_bits());
            lab.set64(B64, l, (l as f64).to_bits());
        }
        let (v, d) = if mem == Mem::B64 { (B64, D64) } else { (B, D) };
        for level in levels() {
            let mut m = [0u64; 4];
            m[1] = match mem {
                Mem::B64 => start.to_bits(),
                Mem::F16 => half::f16::from_f64(start).to_bits() as u64,
                _ => (start as f32).to_bits() as u64,
            };
            let desc = [m.as_mut_ptr() as u64, 32, 0, 0];
            let mut lab = lab.clone();
            lab.set_u64(UB, desc.as_ptr() as u64);
            lab.run(
                level,
                &[op(Code::AT_BUF, d, A, UB, atomic_bits(mem, at), 0), ext(v, N)],
                &TestHost::default(),
            );
            let (got, first) = match mem {
                Mem::B64 => (f64::from_bits(m[1]), f64::from_bits(lab.get64(d, 0))),
                Mem::F16 => {
                    (half::f16::from_bits(m[1] as u16).to_f64(), f32::from_bits(lab.get(d, 0)) as f64)
                }
                _ => (f32::from_bits(m[1] as u32) as f64, f32::from_bits(lab.get(d, 0)) as f64),
            };
            assert_eq!((got, first), (want, start), "{at:?} {mem:?} {level:?}");
        }
    }
    use wave::kernels::atomic::apply;
    let f = |x: f32| x.to_bits() as u64;
    for nan in [f(f32::NAN), f(-f32::NAN)] {
        assert_eq!(apply(AtomicOp::FMin, Mem::B32, nan, f(2.0), 0), Some(f(2.0)));
        assert_eq!(apply(AtomicOp::FMax, Mem::B32, f(2.0), nan, 0), Some(f(2.0)));
    }
    assert_eq!(apply(AtomicOp::FMin, Mem::B32, f(0.0), f(-0.0), 0), Some(f(-0.0)));
    assert_eq!(apply(AtomicOp::FMax, Mem::B32, f(-0.0), f(0.0), 0), Some(f(0.0)));
}

#[test]
fn atomics_by_address_fault_outside() {
    let mut m = [5u32; 4];
    let mut lab = Lab::new(UNITS, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    let at = m.as_mut_ptr() as u64;
    lab.arena = wave::Arena::of(at, at + 16);
    (0..256).for_each(|l| lab.set64(A64, l, 3));
    lab.set64(A64, 0, at + 4);
    lab.set64(A64, 241, at + 4);
    (0..256).for_each(|l| lab.set(B, l, 10));
    let ops = [op(Code::AT_GLOBAL, D, A64, N, atomic_bits(Mem::B32, AtomicOp::IAdd), 4), ext(B, N)];
    for level in levels() {
        m = [5; 4];
        std::hint::black_box(&mut m);
        assert_eq!(lab.clone().run(level, &ops, &TestHost::default()).0, Status::Running);
        assert_eq!(std::hint::black_box(m), [5, 5, 25, 5]);
        let mut bad = lab.clone();
        bad.set64(A64, 241, at + 12);
        let want = Status::Fault(Fault::Address(at + 16));
        assert_eq!(bad.run(level, &ops, &TestHost::default()).0, want);
    }
}

#[test]
fn ballot_first_shuffle_quad() {
    let mut r = Random::new(11);
    for _ in 0..50 {
        let mut lab = Lab::new(UNITS, masks(&mut r));
        let masks: Vec<u16> = (0..16).map(|_| r.u32() as u16).collect();
        for l in 0..256 {
            lab.set(A, l, r.u32());
            lab.set(B, l, r.u32());
            lab.set64(A64, l, r.u64());
        }
        lab.set_u(UA, 0x1234);
        // A Bool register: two masks a word.
        const BOOL: Reg = Reg(200);
        for i in 0..8 {
            lab.regs[BOOL.unit()].0[i] = masks[2 * i] as u32 | (masks[2 * i + 1] as u32) << 16;
        }
        for level in levels() {
            let run = |o: Op| {
                let mut lab = lab.clone();
                assert_eq!(lab.run(level, &[o], &TestHost::default()), (Status::Running, 1));
                lab
            };
            let (ballot, first) =
                (run(op(Code::BALLOT, D, BOOL, N, 0, 0)), run(op(Code::FIRST32, D, A, N, 0, 0)));
            let first64 = run(op(Code::FIRST64, D64, A64, N, 0, 0));
            let shuffle = run(op(Code::SHUFFLE32, D, A, B, 0, 0));
            let same = run(op(Code::SHUFFLE32, D, UA, B, 0, 0));
            let shuffle64 = run(op(Code::SHUFFLE64, D64, A64, B, 0, 0));
            for l in lab.active() {
                let w = l / 16;
                let e = lab.exec[w];
                let f = w * 16 + e.trailing_zeros() as usize;
                assert_eq!(ballot.get(D, l), (e & masks[w]) as u32);
                assert_eq!(first.get(D, l), lab.get(A, f));
                assert_eq!(first64.get64(D64, l), lab.get64(A64, f));
                let from = w * 16 + (lab.get(B, l) & 15) as usize;
                // What an inactive lane holds is nobody's to see.
                let seen = |from: usize| u64::from(lab.exec[from / 16] >> (from % 16) & 1);
                assert_eq!(shuffle.get(D, l), seen(from) as u32 * lab.get(A, from));
                assert_eq!(shuffle64.get64(D64, l), seen(from) * lab.get64(A64, from));
                assert_eq!(same.get(D, l), 0x1234);
            }
            use Quad::*;
            let lanes: [(Quad, [usize; 4]); 14] = [
                (Broadcast0, [0, 0, 0, 0]),
                (Broadcast1, [1, 1, 1, 1]),
                (Broadcast2, [2, 2, 2, 2]),
                (Broadcast3, [3, 3, 3, 3]),
                (SwapX, [1, 0, 3, 2]),
                (SwapY, [2, 3, 0, 1]),
                (SwapDiagonal, [3, 2, 1, 0]),
                (Left, [0, 0, 2, 2]),
                (Right, [1, 1, 3, 3]),
                (Top, [0, 1, 0, 1]),
                (Bottom, [2, 3, 2, 3]),
                (Origin, [0, 0, 0, 0]),
                (AlongX, [1, 1, 1, 1]),
                (AlongY, [2, 2, 2, 2]),
            ];
            for (q, from) in lanes {
                let (x, y) = (
                    run(op(Code::QUAD32, D, A, N, quad_bits(q), 0)),
                    run(op(Code::QUAD64, D64, A64, N, quad_bits(q), 0)),
                );
                for l in lab.active() {
                    let s = l / 4 * 4 + from[l % 4];
                    let (mut want, mut want64) = (lab.get(A, s), lab.get64(A64, s));
                    if lab.exec[s / 16] >> (s % 16) & 1 == 0 {
                        let own = matches!(q, Left | Right | Top | Bottom | Origin | AlongX | AlongY);
                        (want, want64) = if own { (lab.get(A, l), lab.get64(A64, l)) } else { (0, 0) };
                    }
                    assert_eq!(x.get(D, l), want, "{q:?}");
                    assert_eq!(y.get64(D64, l), want64, "{q:?}");
                }
            }
        }
    }
}

/// One step of an operation, and its identity, on small integers held as `u64` or exactly as floats.
fn reduce_step(op: ReduceOp, wide: bool, x: u64, y: u64) -> u64 {
    let s = |v: u64| if wide { v as i64 } else { v as u32 as i32 as i64 };
    let f = |v: u64| if wide { f64::from_bits(v) } else { f32::from_bits(v as u32) as f64 };
    let g = |v: f64| if wide { v.to_bits() } else { (v as f32).to_bits() as u64 };
    let r = match op {
        ReduceOp::IAdd => x.wrapping_add(y),
        ReduceOp::IMul => x.wrapping_mul(y),
        ReduceOp::SMin => s(x).min(s(y)) as u64,
        ReduceOp::UMin => x.min(y),
        ReduceOp::SMax => s(x).max(s(y)) as u64,
        ReduceOp::UMax => x.max(y),
        ReduceOp::And => x & y,
        ReduceOp::Or => x | y,
        ReduceOp::Xor => x ^ y,
        ReduceOp::FAdd => g(f(x) + f(y)),
        ReduceOp::FMul => g(f(x) * f(y)),
        ReduceOp::FMin => g(f(x).min(f(y))),
        ReduceOp::FMax => g(f(x).max(f(y))),
    };
    if wide { r } else { r as u32 as u64 }
}
fn identity(op: ReduceOp, wide: bool) -> u64 {
    let g = |v: f64| if wide { v.to_bits() } else { (v as f32).to_bits() as u64 };
    let all = if wide { u64::MAX } else { u32::MAX as u64 };
    match op {
        ReduceOp::IMul => 1,
        ReduceOp::SMin => all >> 1,
        ReduceOp::SMax => (all >> 1) + 1,
        ReduceOp::UMin | ReduceOp::And => all,
        ReduceOp::FMul => g(1.0),
        ReduceOp::FMin => g(f64::INFINITY),
        ReduceOp::FMax => g(f64::NEG_INFINITY),
        _ => 0,
    }
}

#[test]
fn reductions_and_scans() {
    let mut r = Random::new(17);
    use ReduceOp::*;
    for ro in [IAdd, IMul, SMin, UMin, SMax, UMax, And, Or, Xor, FAdd, FMul, FMin, FMax] {
        let float = matches!(ro, FAdd | FMul | FMin | FMax);
        for wide in [false, true] {
            for scan in [Scan::Reduce, Scan::Inclusive, Scan::Exclusive] {
                for cluster in [1, 2, 4, 8, 16] {
                    let mut lab = Lab::new(UNITS, masks(&mut r));
                    for l in 0..256 {
                        // Small whole floats: any order of sums and products is exact.
                        let small = [1.0, 2.0, -1.0, 4.0, -2.0][r.below(5) as usize];
                        let x = if float { f64::to_bits(small) } else { r.u64() };
                        lab.set64(A64, l, x);
                        lab.set(A, l, if float { (small as f32).to_bits() } else { x as u32 });
                    }
                    let (code, a, d) = if wide { (Code::REDUCE64, A64, D64) } else { (Code::REDUCE32, A, D) };
                    for level in levels() {
                        let mut lab = lab.clone();
                        lab.run(
                            level,
                            &[op(code, d, a, N, reduce_bits(ro, scan, cluster), 0)],
                            &TestHost::default(),
                        );
                        for l in lab.active() {
                            let start = l / cluster as usize * cluster as usize;
                            let end = match scan {
                                Scan::Reduce => start + cluster as usize,
                                Scan::Inclusive => l + 1,
                                Scan::Exclusive => l,
                            };
                            let mut want = identity(ro, wide);
                            for i in start..end {
                                if lab.exec[i / 16] >> (i % 16) & 1 != 0 {
                                    let x = if wide { lab.get64(a, i) } else { lab.get(a, i) as u64 };
                                    want = reduce_step(ro, wide, want, x);
                                }
                            }
                            let got = if wide { lab.get64(d, l) } else { lab.get(d, l) as u64 };
                            assert_eq!(got, want, "{ro:?} wide {wide} {scan:?} {cluster} {level:?} lane {l}");
                        }
                    }
                }
            }
        }
    }
}

/// An operation on a 2D image at the coordinates A and B.
fn image_code(op: ImageOp, image: Reg, sampler: Reg, texel: TexelType, results: Vec<Reg>) -> ImageCode {
    ImageCode {
        op,
        dim: Dim::D2,
        arrayed: false,
        multisampled: false,
        texel,
        format: 0,
        image,
        sampler,
        coords: vec![A, B],
        dref: N,
        lod: N,
        bias: N,
        grad: vec![],
        offsets: vec![],
        sample: N,
        min_lod: N,
        component: 0,
        data: vec![],
        results,
        half: false,
        residency: N,
    }
}

/// Operands reach the host by warp and descriptor; results come back to active lanes only.
#[test]
fn images_split_by_descriptor() {
    let code = |image, sampler, texel, results| image_code(ImageOp::Fetch, image, sampler, texel, results);
    let descs: Vec<[u64; 4]> = (0..3).map(|i| [0, 0, 2 * (i + 1), i + 5]).collect();
    let mut r = Random::new(23);
    for _ in 0..20 {
        let mut lab = Lab::new(UNITS, masks(&mut r));
        let which: Vec<usize> = (0..256).map(|_| r.below(3) as usize).collect();
        for l in 0..256 {
            lab.set(A, l, l as u32);
            lab.set(B, l, 1000 + l as u32);
            lab.set64(A64, l, descs[which[l]].as_ptr() as u64);
        }
        lab.set_u64(UB, descs[2].as_ptr() as u64);
        lab.images =
            vec![code(A64, UB, TexelType::F32, vec![D, Reg(48)]), code(UB, N, TexelType::U64, vec![N, D64])];
        for level in levels() {
            let mut x = lab.clone();
            assert_eq!(x.run(level, &[op(Code::IMAGE, N, N, N, 0, 0)], &TestHost::default()).1, 1);
            for l in 0..256 {
                let w = l / 16 * 16;
                let active = |l: usize| lab.exec[l / 16] >> (l % 16) & 1 != 0;
                let n = (w..w + 16).filter(|&k| active(k) && which[k] == which[l]).count() as u32;
                let add = ((which[l] as u32 + 1) << 17) + (7 << 20) + (n << 24);
                let want = if active(l) { [l as u32 + add, 1000 + l as u32 + add] } else { [0xDEAD_BEEF; 2] };
                assert_eq!([x.get(D, l), x.get(Reg(48), l)], want, "{level:?} lane {l}");
            }
            let mut x = lab.clone();
            x.run(level, &[op(Code::IMAGE, N, N, N, 0, 1)], &TestHost::default());
            for l in lab.active() {
                let n = lab.exec[l / 16].count_ones();
                let want = (1000 + l as u32 + (6 << 16) + (n << 24)) as u64 | 7 << 32;
                assert_eq!(x.get64(D64, l), want);
            }
        }
    }
}

/// A host that looks at the first two coordinates: of warps one by one, or of all at once.
struct Seen {
    together: bool,
    warps: Mutex<Vec<(u16, [[u32; 16]; 2])>>,
}

impl Host for Seen {
    unsafe fn image(&self, _: &ImageCode, warp: &mut ImageWarp) {
        self.warps.lock().unwrap().push((warp.mask, [warp.coords[0], warp.coords[1]]));
    }
    unsafe fn image_wave(&self, _: &ImageCode, wave: &ImageWave) -> bool {
        for w in (0..16).filter(|w| self.together && wave.rows.live >> w & 1 != 0) {
            // SAFETY: rows of a live warp.
            let row = |k: usize| unsafe { *wave.rows.coords[k].warp(w).cast::<[u32; 16]>() };
            self.warps.lock().unwrap().push((wave.rows.exec[w], [row(0), row(1)]));
        }
        self.together
    }
    fn foreign_from(&self, _: u64) -> Option<u64> {
        None
    }
    fn clock(&self) -> u64 {
        0
    }
    fn expired(&self) -> bool {
        false
    }
}

/// A lane's level of detail depends on its quad: where some of that are not active, nothing of what they hold is seen.
#[test]
fn footprints_are_made_of_active_lanes() {
    let descs = [[0, 0, 2, 5u64]];
    let mut r = Random::new(29);
    for round in 0..60 {
        let mut lab = Lab::new(UNITS, masks(&mut r));
        // A plane in each quad, in numbers that floats have exactly.
        let at = |l: usize, k: usize| {
            let (x, y, quad) = (l & 1, l >> 1 & 1, l >> 2);
            (3 * x + 5 * y + 7 * quad * (k + 1)) as f32
        };
        let active = |lab: &Lab, l: usize| lab.exec[l / 16] >> (l % 16) & 1 != 0;
        for l in 0..256 {
            let seen = active(&lab, l);
            lab.set(A, l, if seen { at(l, 0).to_bits() } else { 0xDEAD_BEEF });
            lab.set(B, l, if seen { at(l, 1).to_bits() } else { 0xDEAD_BEEF });
        }
        lab.set_u64(UB, descs[0].as_ptr() as u64);
        lab.images = vec![image_code(ImageOp::Sample, UB, UB, TexelType::F32, vec![D])];
        let want = |l: usize, k: usize| {
            let from = [l, l ^ 1, l ^ 2, l ^ 3].map(|l| active(&lab, l).then(|| at(l, k)));
            match from {
                [Some(own), ..] => own,
                [_, Some(_), Some(_), Some(_)] => at(l, k),
                [_, one, two, three] => one.or(two).or(three).unwrap_or(0.0),
            }
        };
        for level in levels() {
            let host = Seen { together: round % 2 == 0, warps: Default::default() };
            lab.clone().run(level, &[op(Code::IMAGE, N, N, N, 0, 0)], &host);
            let mut warps = (0..16).filter(|w| lab.exec[*w] != 0);
            for (exec, coords) in host.warps.into_inner().unwrap() {
                let w = warps.next().expect("as many as there are");
                assert_eq!(exec, lab.exec[w]);
                for l in (0..16).filter(|l| exec >> (l & !3) & 15 != 0) {
                    for k in 0..2 {
                        assert_eq!(
                            f32::from_bits(coords[k][l]),
                            want(w * 16 + l, k),
                            "{level:?}, lane {l} of {exec:#b}"
                        );
                    }
                }
            }
            assert!(warps.next().is_none());
        }
    }
}

#[test]
fn clock_and_buffers() {
    let mut lab = Lab::new(UNITS, [3; 16]);
    let descs = [[5, 77, 0, 0], [9 << 40, 1 << 33, 0, 0u64]];
    (0..256).for_each(|l| lab.set64(A64, l, descs[l % 2].as_ptr() as u64));
    lab.set_u64(UB, descs[1].as_ptr() as u64);
    for level in levels() {
        let mut x = lab.clone();
        x.run(level, &[op(Code::CLOCK, D64, N, N, 0, 0)], &TestHost::default());
        // The host says when the work began; a reading takes a tick.
        assert_eq!(x.get64(D64, 1), 0x1_0000_0003);
        x.run(level, &[op(Code::BUF_SIZE, D, N, A64, 0, 0)], &TestHost::default());
        assert_eq!((x.get(D, 32), x.get(D, 33)), (77, u32::MAX));
        x.run(level, &[op(Code::BUF_SIZE, UA, N, UB, 0, 0)], &TestHost::default());
        assert_eq!(x.get(UA, 5), u32::MAX);
        x.run(level, &[op(Code::BUF_ADDR, D64, N, A64, 0, 0)], &TestHost::default());
        assert_eq!((x.get64(D64, 32), x.get64(D64, 33)), (5, 9 << 40));
        x.run(level, &[op(Code::BUF_ADDR, D64, N, UB, 0, 0)], &TestHost::default());
        assert_eq!(x.get64(D64, 32), 9 << 40);
    }
}

#[test]
fn masked_moves() {
    let mut r = Random::new(41);
    const MASK: Reg = Reg(200);
    const BA: Reg = Reg(201);
    const BD: Reg = Reg(202);
    for round in 0..60 {
        let mut lab = Lab::new(UNITS, masks(&mut r));
        for l in 0..256 {
            lab.set(A, l, r.u32());
            lab.set(D, l, r.u32());
            lab.set64(A64, l, r.u64());
            lab.set64(D64, l, r.u64());
        }
        lab.set_u(UA, 99);
        for (i, reg) in [MASK, BA, BD].into_iter().enumerate() {
            for k in 0..8 {
                let e = lab.exec[2 * k] as u32 | (lab.exec[2 * k + 1] as u32) << 16;
                // The mask is a subset of exec.
                lab.regs[reg.unit()].0[k] = r.u32() & if i == 0 { e } else { !0 };
            }
        }
        let bit = |lab: &Lab, reg: Reg, l: usize| lab.regs[reg.unit()].0[l / 32] >> (l % 32) & 1 != 0;
        let a = if round % 4 == 0 { UA } else { A };
        for (codes, by_mask) in [
            ([Code::MOVM32, Code::MOVM64, Code::MOVMB], false),
            ([Code::MOVIF32, Code::MOVIF64, Code::MOVIFB], true),
        ] {
            for level in levels() {
                let mut x = lab.clone();
                x.run(level, &[op(codes[0], D, a, MASK, 0, 0)], &TestHost::default());
                x.run(level, &[op(codes[1], D64, A64, MASK, 0, 0)], &TestHost::default());
                x.run(level, &[op(codes[2], BD, BA, MASK, 0, 0)], &TestHost::default());
                for l in 0..256 {
                    let active = lab.exec[l / 16] >> (l % 16) & 1 != 0;
                    let moves = if by_mask { bit(&lab, MASK, l) } else { active };
                    let from = if moves { (a, A64, BA) } else { (D, D64, BD) };
                    assert_eq!(x.get(D, l), lab.get(from.0, l), "{level:?} lane {l}");
                    assert_eq!(x.get64(D64, l), lab.get64(from.1, l), "{level:?} lane {l}");
                    assert_eq!(bit(&x, BD, l), bit(&lab, from.2, l), "{level:?} lane {l}");
                }
            }
        }
    }
}
