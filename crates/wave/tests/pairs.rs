//! Every pair at every level against its two ops one after the other (which `exact.rs` and `math.rs` test): random and
//! special values, uniform and varying operands, dead warps.

mod one_op;

use one_op::*;
use shader::bytecode::{Code, Op, Reg};
use shader::ir::Ty;
use shader::pairs::{PAIRS, Pair};
use simd::Level;

const SPECIAL: [u32; 16] = [
    0,
    0x8000_0000,
    1,
    0x8080_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x4B80_0000,
    0xCF00_0001,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    31,
    0xFFFF_FFFF,
];

fn sample(rng: &mut Rng) -> u32 {
    match rng.below(6) {
        0 => SPECIAL[rng.below(16) as usize],
        1 => rng.below(70) as u32,
        2 | 3 => ((rng.below(2000) as f32 - 1000.0) * 0.25).to_bits(),
        4 => (100 + rng.below(50) as u32) << 23 | rng.next() as u32 >> 9 | (rng.next() as u32) << 31,
        _ => rng.next() as u32,
    }
}

/// Operands at units 0, 16, 32, 48, 64; the first op's result at 80; the two ops' result at 112.
const STEP: u16 = 16;
const FIRST: u16 = 80;
const BOTH: u16 = 112;

fn run(level: Level, code: Code, pair: &Pair, lanes: usize, uniform: u32, live: u32, rng: &mut Rng) {
    let mut b = Bench::new(lanes);
    b.live = live;
    let n = pair.operands as usize;
    let uni = |i: usize| i < n && uniform >> i & 1 != 0;
    for i in 0..n {
        for lane in 0..if uni(i) { 16 } else { lanes } {
            // The same on all lanes of a uniform one.
            let v =
                if uni(i) && lane > 0 { b.get(Ty::B32, i * STEP as usize, 0) } else { sample(rng) as u64 };
            b.set(Ty::B32, i * STEP as usize, lane, v);
        }
    }
    let regs: Vec<Reg> = (0..n).map(|i| operand(i as u16 * STEP, uni(i))).collect();
    let (own, rest) = regs.split_at(pair.split as usize);
    if own.iter().all(|r| r.is_uniform()) {
        return;
    }
    let fields = |op: &mut Op, regs: &[Reg]| {
        let at = |i: usize| regs.get(i).copied().unwrap_or(Reg::NONE);
        (op.a, op.b, op.c) = (at(0), at(1), at(2));
    };
    let mut op = Op::new(pair.first);
    op.d = Reg::varying(FIRST);
    fields(&mut op, own);
    b.run(level, &op);
    let mut all = rest.to_vec();
    all.insert(pair.at as usize, op.d);
    let mut op = Op::new(pair.second);
    op.d = Reg::varying(BOTH);
    fields(&mut op, &all);
    b.run(level, &op);
    let mut op = Op::new(code);
    op.d = Reg::varying(RESULT);
    fields(&mut op, &regs);
    op.e = regs.get(3).copied().unwrap_or(Reg::NONE).0;
    op.imm = regs.get(4).copied().unwrap_or(Reg::NONE).0 as u32;
    let before = b.regs.clone();
    b.run(level, &op);
    for lane in 0..lanes {
        let got = b.get(Ty::B32, RESULT as usize, lane) as u32;
        if live >> (lane / 16) & 1 == 0 {
            let unit = RESULT as usize + lane / 16;
            assert_eq!(b.regs[unit].0, before[unit].0, "{level:?} {}: a dead warp was written", pair.name);
            continue;
        }
        let want = b.get(Ty::B32, BOTH as usize, lane) as u32;
        let nan = f32::from_bits(got).is_nan() && f32::from_bits(want).is_nan();
        assert!(got == want || nan, "{level:?} {} lane {lane}: {got:#x}, expected {want:#x}", pair.name);
    }
}

#[test]
fn pairs_are_their_two_ops() {
    let mut rng = Rng(0x1234_5678_9ABC_DEF1);
    for level in levels() {
        for (i, pair) in PAIRS.iter().enumerate() {
            for lanes in [64, 128, 256] {
                let all = ((1u64 << (lanes / 16)) - 1) as u32;
                for uniform in 0..1 << pair.operands {
                    let live = if rng.below(2) == 0 { all } else { rng.next() as u32 & all };
                    run(level, Code::pair(i), pair, lanes, uniform, live, &mut rng);
                }
            }
        }
    }
}
