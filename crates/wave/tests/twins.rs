//! Every twin at every level against its two ops one after the other: random and special values, uniform and varying
//! operands, dead warps, results in the places of operands.

use crate::one_op::*;
use random::Random;
use shader::bytecode::{Code, Op, Reg};
use shader::twins::{TWINS, Twin};
use simd::Level;

/// Operands at units 0, 16, 32, 48, 64; the two ops' results at 80 and 96.
const ALONE: [u16; 2] = [80, 96];

fn run(level: Level, code: Code, twin: &Twin, lanes: usize, uniform: u32, live: u32, rng: &mut Random) {
    let mut b = Bench::new(lanes);
    b.live = live;
    let n = twin.operands();
    let uni = |i: usize| uniform >> i & 1 != 0;
    let regs = sampled(&mut b, n, uniform, rng);
    let at = |list: &[Reg], i: usize| list.get(i).copied().unwrap_or(Reg::NONE);
    for ((code, reads), d) in twin.codes().into_iter().zip(twin.reads).zip(ALONE) {
        let list: Vec<Reg> = reads.iter().map(|k| regs[*k as usize]).collect();
        let mut op = Op::new(code);
        op.d = Reg::varying(d);
        (op.a, op.b, op.c) = (at(&list, 0), at(&list, 1), at(&list, 2));
        if shader::pairs::of(code).is_some() {
            (op.e, op.imm) = (at(&list, 3).0, at(&list, 4).0 as u32);
        }
        b.run(level, &op);
    }
    // Results in the places of two varying operands, if there are that many, either way round.
    let mut places: Vec<u16> = (0..n).filter(|i| !uni(*i)).map(|i| i as u16 * STEP).collect();
    if rng.below(2) == 0 {
        places.reverse();
    }
    places.push(112);
    let results = if places.len() > 2 { [places[0], places[1]] } else { [112, places[0]] };
    let mut op = Op::new(code);
    (op.d, op.b) = (Reg::varying(results[0]), Reg::varying(results[1]));
    (op.a, op.c, op.e) = (at(&regs, 0), at(&regs, 1), at(&regs, 2).0);
    op.imm = at(&regs, 3).0 as u32 | (at(&regs, 4).0 as u32) << 16;
    if results[0] == results[1] {
        return;
    }
    let before = b.regs.clone();
    b.run(level, &op);
    for (part, (result, alone)) in results.into_iter().zip(ALONE).enumerate() {
        assert_same(&mut b, &before, result, alone, &(level, twin, part));
    }
}

#[test]
fn twins_are_their_two_ops() {
    let mut rng = Random::new(0xFEDC_BA98_7654_3211);
    for level in levels() {
        for (i, twin) in TWINS.iter().enumerate() {
            for lanes in [64, 128, 256] {
                let all = ((1u64 << (lanes / 16)) - 1) as u32;
                let n = twin.operands();
                for uniform in 0..(1 << n) - 1 {
                    // An op whose operands are all uniform is none of a whole wave's.
                    if twin.reads.iter().any(|r| r.iter().all(|k| uniform >> k & 1 != 0)) {
                        continue;
                    }
                    for live in [all, rng.u64() as u32 & all] {
                        run(level, Code::twin(i), twin, lanes, uniform, live, &mut rng);
                    }
                }
            }
        }
    }
}
