//! Every pair at every level against its two ops one after the other (which `exact.rs` and `math.rs` test): random and
//! special values, uniform and varying operands, dead warps.

use crate::one_op::*;
use random::Random;
use shader::bytecode::{Code, Op, Reg};
use shader::pairs::{PAIRS, Pair};
use simd::Level;

/// Operands at units 0, 16, 32, 48, 64; the first op's result at 80; the two ops' result at 112.
const FIRST: u16 = 80;
const BOTH: u16 = 112;

fn run(level: Level, code: Code, pair: &Pair, lanes: usize, uniform: u32, live: u32, rng: &mut Random) {
    let mut b = Bench::new(lanes);
    b.live = live;
    let n = pair.operands as usize;
    let regs = sampled(&mut b, n, uniform, rng);
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
    assert_same(&mut b, &before, RESULT, BOTH, &(level, pair.name));
}

#[test]
fn pairs_are_their_two_ops() {
    let mut rng = Random::new(0x1234_5678_9ABC_DEF1);
    for level in levels() {
        for (i, pair) in PAIRS.iter().enumerate() {
            for lanes in [64, 128, 256] {
                let all = ((1u64 << (lanes / 16)) - 1) as u32;
                for uniform in 0..1 << pair.operands {
                    let live = if rng.below(2) == 0 { all } else { rng.u64() as u32 & all };
                    run(level, Code::pair(i), pair, lanes, uniform, live, &mut rng);
                }
            }
        }
    }
}
