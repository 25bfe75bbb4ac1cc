//! Comparisons with the condition in their code, and those that compute an operand, against the general ones.

use crate::one_op::*;
use random::Random;
use shader::bytecode::{BEFORE_LEFT, Before, Code, Op, Reg};
use shader::ir::{Bin, Tri, Ty};
use simd::Level;
use wave::kernels;

const BINS: [Bin; 10] =
    [Bin::FLt, Bin::FLe, Bin::FEq, Bin::FNe, Bin::IEq, Bin::INe, Bin::SLt, Bin::SLe, Bin::ULt, Bin::ULe];

/// Units: operands at 0, 16, 32, 48; the computed one at 64; masks at 80 and 81.
const COMPUTED: u16 = 64;
const MASKS: [u16; 2] = [80, 81];

fn sample(rng: &mut Random) -> u32 {
    const SPECIAL: [u32; 8] =
        [0, 0x8000_0000, 1, 0x3F80_0000, 0xBF80_0000, 0x7F80_0000, 0x7FC0_0000, 0xFFFF_FFFF];
    match rng.below(3) {
        0 => SPECIAL[rng.below(8) as usize],
        1 => rng.below(3),
        _ => ((rng.below(16) as f32 - 8.0) * 0.5).to_bits(),
    }
}

/// Where control goes (ops from the first one), the lanes that execute, and the two masks.
type Outcome = (usize, u32, Vec<u16>, Vec<u8>);

fn outcome(level: Level, b: &mut Bench, op: Op, exec: &[u16; 32]) -> Outcome {
    let masks = MASKS.map(Reg::varying);
    let rest = [Reg::NONE; 6];
    let ext = Op::ext([masks[0], masks[1], rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]]);
    let code = [op, ext, Op::new(Code::END), Op::new(Code::END)];
    let all = b.live;
    let (at, live, exec) = with_state(b, |st| {
        (st.code, st.exec) = (code.as_ptr(), *exec);
        // The state describes the bench's registers; the op has its extension word.
        let next = unsafe { kernels::table(level)[op.code.0 as usize](st, &code[0]) };
        ((next as usize - code.as_ptr() as usize) / size_of::<Op>(), st.live, st.exec)
    });
    // Of warps that were dead before, a mask's bits are any.
    let warps: Vec<usize> = (0..16).filter(|w| all >> w & 1 != 0).collect();
    let exec = warps.iter().map(|w| exec[*w]).collect();
    let bytes = MASKS
        .iter()
        .flat_map(|m| warps.iter().flat_map(|w| b.regs[*m as usize].0[2 * w..2 * w + 2].to_vec()));
    (at, live, exec, bytes.collect())
}

fn run(level: Level, kind: Code, e: u16, lanes: usize, rng: &mut Random) {
    let before = Before::of(e);
    let mut b = Bench::new(lanes);
    let all = ((1u64 << (lanes / 16)) - 1) as u32;
    b.live = if rng.below(2) == 0 { all } else { (rng.u64() as u32 & all).max(1) };
    let mut exec = [0u16; 32];
    for (w, x) in exec.iter_mut().enumerate().take(lanes / 16) {
        if b.live >> w & 1 != 0 {
            *x = if rng.below(2) == 0 { 0xFFFF } else { (rng.u64() >> 20) as u16 | 1 };
        }
    }
    let n = match before {
        Before::Nothing => 2,
        Before::Fma => 4,
        _ => 3,
    };
    // One of the operands that are compared varies.
    let uniform = [1, 2, 0, 4][rng.below(4) as usize] & ((1 << n) - 1);
    let rare = rng.below(3) == 0;
    for i in 0..n {
        for lane in 0..lanes {
            let v = if rare { 0x3F80_0000 + (i as u32) } else { sample(rng) };
            let same = uniform >> i & 1 != 0 && lane > 0;
            let v = if same { b.get(Ty::B32, 16 * i, 0) } else { v as u64 };
            b.set(Ty::B32, 16 * i, lane, v);
        }
    }
    for m in MASKS {
        for lane in 0..256 {
            b.set(Ty::Bool, m as usize, lane, rng.u64() >> 30 & 1);
        }
    }
    let reg = |i: usize| if i < n { operand(16 * i as u16, uniform >> i & 1 != 0) } else { Reg::NONE };
    let mut op = Op::new(kind.fused(e));
    assert_ne!(op.code, kind, "{kind:?} {e:#x} has a code of its own");
    assert_eq!(op.code.unfused(), kind);
    (op.a, op.b, op.c, op.d, op.e, op.imm) = (reg(0), reg(1), reg(2), reg(3), e, 3);
    let mut plain = op;
    plain.code = kind;
    plain.e = e & 0x1FF;
    (plain.c, plain.d) = (Reg::NONE, Reg::NONE);
    if before != Before::Nothing {
        let mut first = Op::new(match before {
            Before::FAdd => Code::bin(Bin::FAdd, Ty::B32),
            Before::FSub => Code::bin(Bin::FSub, Ty::B32),
            Before::FMul => Code::bin(Bin::FMul, Ty::B32),
            Before::FSumSquares => Code::bin(Bin::FSumSquares, Ty::B32),
            _ => Code::tri(Tri::Fma, Ty::B32),
        });
        (first.d, first.a, first.b, first.c) = (Reg::varying(COMPUTED), reg(1), reg(2), reg(3));
        b.run(level, &first);
        plain.b = first.d;
        if e & BEFORE_LEFT != 0 {
            std::mem::swap(&mut plain.a, &mut plain.b);
        }
    }
    let mut other = Bench { regs: b.regs.clone(), lanes, live: b.live };
    let want = outcome(level, &mut other, plain, &exec);
    let got = outcome(level, &mut b, op, &exec);
    assert_eq!(got, want, "{level:?} {kind:?} {e:#x} lanes {lanes} live {:#x} uniform {uniform}", b.live);
}

#[test]
fn conditions_in_the_code() {
    let mut rng = Random::new(0x0DDB_1A5E_5BAD_5EED);
    for level in levels() {
        for kind in [Code::CMP_SPLIT, Code::CMP_PARK, Code::CMP_SPLIT_RARE] {
            let plain = BINS.iter().map(|b| *b as u16);
            let computed = [Before::FAdd, Before::FSub, Before::FMul, Before::Fma, Before::FSumSquares]
                .into_iter()
                .flat_map(|p| {
                    [Bin::FLt, Bin::FLe]
                        .into_iter()
                        .flat_map(move |b| [b as u16 | p.bits(false), b as u16 | p.bits(true)])
                });
            for e in plain.chain(computed) {
                for lanes in [64, 128, 256] {
                    for round in 0..12 {
                        run(level, kind, e | (round % 2) << 8, lanes, &mut rng);
                    }
                }
            }
        }
    }
}
