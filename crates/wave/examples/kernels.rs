//! Time of single kernels: nanoseconds an op of 256 lanes, by level. `cargo run --release --example kernels [filter]`

use shader::bytecode::{Code, Op, Reg};
use shader::ir::{Bin, Tri, Ty, Un};
use simd::Level;
use wave::kernels;

#[path = "../tests/one_op/mod.rs"]
mod one_op;
use one_op::*;

/// CPU time of this thread in ns: other processes do not count.
fn cpu() -> f64 {
    // SAFETY: fills the struct.
    unsafe {
        let mut t = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
        t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
    }
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let v = |u: u16| Reg::varying(u);
    let mut list: Vec<(String, Op)> = Vec::new();
    let mut add = |name: String, code: Code, b: Reg, c: Reg| {
        let mut op = Op::new(code);
        (op.d, op.a, op.b, op.c) = (v(RESULT), v(0), b, c);
        list.push((name, op));
    };
    use Bin::*;
    use Un::*;
    for o in [FAdd, FMul, FDiv, FMin, IAdd, IMul, Shl, UDiv, SRem, FMod, FPow, FAtan2, FLt, ULt, IEq] {
        add(format!("{o:?}"), Code::bin(o, Ty::B32), v(32), Reg::NONE);
    }
    add("FAdd uniform".into(), Code::bin(FAdd, Ty::B32), Reg::uniform(32), Reg::NONE);
    add("FLt uniform".into(), Code::bin(FLt, Ty::B32), Reg::uniform(32), Reg::NONE);
    for o in [FAdd, IMul, UDiv, FLt] {
        add(format!("{o:?} 64"), Code::bin(o, Ty::B64), v(32), Reg::NONE);
    }
    for o in [
        Mov, FNeg, FSqrt, FRcp, FRsqrt, FFloor, FExp2, FExp, FLog2, FLog, FSin, FCos, FTan, FAsin, FAcos,
        FAtan, FSinh, FTanh, FAsinh, F16Round, F32ToS32, S32ToF32, U32ToF32, BitCount, FindUMsb,
    ] {
        add(format!("{o:?}"), Code::un(o, Ty::B32), Reg::NONE, Reg::NONE);
    }
    for o in [Tri::Fma, Tri::FMix, Tri::FClamp, Tri::BitSelect] {
        add(format!("{o:?}"), Code::tri(o, Ty::B32), v(32), v(64));
    }
    add("Fma uniform b".into(), Code::tri(Tri::Fma, Ty::B32), Reg::uniform(32), v(64));
    add("Fma uniform b c".into(), Code::tri(Tri::Fma, Ty::B32), Reg::uniform(32), Reg::uniform(64));
    let mut select = Op::new(Code::tri(Tri::Select, Ty::B32));
    (select.d, select.a, select.b, select.c) = (v(RESULT), v(16), v(32), v(64));
    list.push(("Select".into(), select));
    let mut and = Op::new(Code::bin(Bin::BAnd, Ty::Bool));
    (and.d, and.a, and.b) = (v(RESULT), v(0), v(32));
    list.push(("BAnd".into(), and));
    let mut uniform = Op::new(Code::bin(FAdd, Ty::B32));
    (uniform.d, uniform.a, uniform.b) = (Reg::uniform(RESULT), Reg::uniform(0), Reg::uniform(32));
    list.push(("FAdd all uniform".into(), uniform));

    let levels: Vec<Level> = levels();
    print!("{:18}", "ns");
    for l in &levels {
        print!("{:>12}", format!("{l:?}"));
    }
    println!();
    for (name, op) in list.iter().filter(|(n, _)| n.contains(&filter)) {
        print!("{name:18}");
        for &level in &levels {
            let mut b = Bench::new(256);
            for unit in [0, 32, 64] {
                for lane in 0..256 {
                    // Ordinary numbers as floats, large ones as ints.
                    let x = 0.01f32 + lane as f32 / 300.0;
                    b.set(Ty::B32, unit, lane, x.to_bits() as u64);
                }
            }
            let kernel = kernels::table(level)[op.code.0 as usize];
            let best = with_state(&mut b, |st| {
                let mut best = f64::MAX;
                for _ in 0..9 {
                    let n = 4_000;
                    let t = cpu();
                    for _ in 0..n {
                        // The registers are the bench's own.
                        unsafe { kernel(st, std::hint::black_box(op)) };
                    }
                    best = best.min((cpu() - t) / n as f64);
                }
                best
            });
            print!("{best:12.1}");
        }
        println!();
    }
}
