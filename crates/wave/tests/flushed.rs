//! The functions' bits where denormals are zeros (as waves of shaders may have it): the same on every level.

use crate::one_op::*;
use random::Random;
use shader::bytecode::{Code, Op};
use shader::ir::{Bin, Ty, Un};
use wave::flush::Mode;

/// Any float, every other of them about the edges: of denormals, of what functions overflow at, 1 and 0.
fn sample(rng: &mut Random) -> u32 {
    let edges =
        [0u32, 0x0080_0000, 0x3F80_0000, 0x42B0_0000, 0x4300_0000, 0x4316_0000, 0x4800_0000, 0x7F80_0000];
    let any = rng.u64();
    if any & 1 == 0 {
        return (any >> 32) as u32;
    }
    let near = edges[(any >> 1) as usize % edges.len()].wrapping_add((any >> 32) as u32 >> 12) & 0x7FFF_FFFF;
    near.wrapping_sub(0x8_0000) & 0x7FFF_FFFF | (any as u32) << 27 & 0x8000_0000
}

fn alike(op: Op, name: &str) {
    let mut b = Bench::new(256);
    let mut rng = Random::new(0x1234_5678_9ABC_DEF1);
    for _ in 0..400 {
        let x: [[u32; 256]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| sample(&mut rng)));
        for i in 0..256 {
            b.set(Ty::B32, 0, i, x[0][i] as u64);
            b.set(Ty::B32, 32, i, x[1][i] as u64);
        }
        let mut first: Option<[u32; 256]> = None;
        for level in levels() {
            {
                let _flushed = Mode::flushed(true);
                b.run(level, &op);
            }
            let got = std::array::from_fn(|i| b.get(Ty::B32, RESULT as usize, i) as u32);
            let want = *first.get_or_insert(got);
            for i in 0..256 {
                let (p, q) = (f32::from_bits(want[i]), f32::from_bits(got[i]));
                let what = || format!("{name}({:#x}, {:#x}) = {p:e}, at {level:?} {q:e}", x[0][i], x[1][i]);
                assert!(want[i] == got[i] || p.is_nan() && q.is_nan(), "{}", what());
            }
        }
    }
}

#[test]
fn functions_are_alike_where_denormals_are_zeros() {
    use Un::*;
    let functions = [
        FSqrt, FRsqrt, FExp2, FExp, FLog2, FLog, FSin, FCos, FTan, FAsin, FAcos, FAtan, FSinh, FCosh, FTanh,
        FAsinh, FAcosh, FAtanh,
    ];
    for f in functions {
        let mut op = Op::new(Code::un(f, Ty::B32));
        (op.d, op.a) = (operand(RESULT, false), operand(0, false));
        alike(op, &format!("{f:?}"));
    }
    for f in [Bin::FPow, Bin::FAtan2] {
        let mut op = Op::new(Code::bin(f, Ty::B32));
        (op.d, op.a, op.b) = (operand(RESULT, false), operand(0, false), operand(32, false));
        alike(op, &format!("{f:?}"));
    }
}
