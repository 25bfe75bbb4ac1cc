//! Times single ops on a wave of 256 lanes: ns per op and per warp.

use shader::bytecode::*;
use shader::ir::{Mem, Ty};
use wave::ImageWarp;
use wave::kernels::{control::PATIENCE, table};

#[path = "../tests/one_op/mod.rs"]
mod one_op;
use one_op::{Bench, UNITS, with_state};

/// CPU time of this thread in ns: other processes do not count.
fn cpu() -> f64 {
    // SAFETY: fills the struct.
    unsafe {
        let mut t = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
        t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
    }
}

const N: Reg = Reg::NONE;
const A: Reg = Reg(0);
const D: Reg = Reg(32);
const DESC: Reg = Reg(96 | Reg::UNIFORM);

fn main() {
    let level = settings::level();
    println!("{level:?}");
    let only = std::env::args().nth(1);
    let mut bench = Bench::new(256);
    bench.regs.resize(4 * UNITS, bench.regs[0]);
    let mut buffer = vec![1u8; 1 << 20];
    let desc = [buffer.as_mut_ptr() as u64, 4096u64, 0, 0];
    let wide = [buffer.as_mut_ptr() as u64, 1u64 << 20, 0, 0];
    let mut run = |name: &str, off: &dyn Fn(usize) -> u32, size: bool, ops: &[Op], exec: u16| {
        if only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
            return;
        }
        for l in 0..256 {
            bench.set(Ty::B32, A.unit(), l, off(l) as u64);
        }
        let d = if size { wide.as_ptr() } else { desc.as_ptr() } as u64;
        for i in 0..16 {
            bench.set(Ty::B64, DESC.unit(), i, d);
        }
        let mut made = wave::MadeUp::default();
        // SAFETY: plain numbers.
        let mut warp: Box<ImageWarp> = Box::new(unsafe { std::mem::zeroed() });
        with_state(&mut bench, |st| {
            st.count.exact = false;
            st.exec[..16].fill(exec);
            (st.code, st.pc) = (ops.as_ptr(), ops.as_ptr());
            st.patience = PATIENCE;
            (st.made, st.image_warp) = (&mut made, &mut *warp);
            let k = table(level)[ops[0].code.0 as usize];
            let mut best = f64::MAX;
            for _ in 0..100 {
                let t = cpu();
                for _ in 0..500 {
                    // SAFETY: all that the state and the descriptor point at outlives this.
                    std::hint::black_box(unsafe { k(st, std::hint::black_box(ops.as_ptr())) });
                }
                best = best.min((cpu() - t) / 500.0);
            }
            println!("{name:34} {best:8.1} ns/op {:6.2} ns/warp", best / 16.0);
        });
    };
    let op = |code, mem, n| {
        let d = if n == 1 { D } else { N };
        let mut v = vec![Op { code, d, a: A, b: DESC, c: N, e: mem_bits(mem, n), imm: 0 }];
        if n > 1 {
            v.push(Op::ext(std::array::from_fn(|i| Reg(128 + 16 * i as u16))));
        }
        v
    };
    let random = |l: usize| ((l as u32).wrapping_mul(2654435761) >> 8 & 1023) * 4;
    let unit = |l: usize| l as u32 * 4;
    let same = |l: usize| (l / 16) as u32 * 64;
    let ld = op(Code::LD_BUF, Mem::B32, 1);
    run("load, unit stride", &unit, false, &ld, 0xFFFF);
    run("load, unit stride, partial exec", &unit, false, &ld, 0x7FFE);
    run("load, same in warp", &same, false, &ld, 0xFFFF);
    run("load, random in 4 KiB", &random, false, &ld, 0xFFFF);
    run("load, random, partly outside", &|l| random(l) * 2, false, &ld, 0xFFFF);
    run("load vec2, unit", &|l| l as u32 * 8, true, &op(Code::LD_BUF, Mem::B32, 2), 0xFFFF);
    run("load vec4, unit", &|l| l as u32 * 16, true, &op(Code::LD_BUF, Mem::B32, 4), 0xFFFF);
    run("load vec3, stride 16", &|l| l as u32 * 16, true, &op(Code::LD_BUF, Mem::B32, 3), 0xFFFF);
    run("load mat4, unit", &|l| l as u32 * 64, true, &op(Code::LD_BUF, Mem::B32, 8), 0xFFFF);
    run("load u8, unit", &|l| l as u32, true, &op(Code::LD_BUF, Mem::U8, 1), 0xFFFF);
    run("load u8, random", &random, false, &op(Code::LD_BUF, Mem::U8, 1), 0xFFFF);
    run("load f16, unit", &|l| l as u32 * 2, true, &op(Code::LD_BUF, Mem::F16, 1), 0xFFFF);
    let st = op(Code::ST_BUF, Mem::B32, 1);
    run("store, unit stride", &unit, false, &st, 0xFFFF);
    run("store, unit stride, partial exec", &unit, false, &st, 0x7FFE);
    run("store, random", &random, false, &st, 0xFFFF);
    run("store vec4, unit", &|l| l as u32 * 16, true, &op(Code::ST_BUF, Mem::B32, 4), 0xFFFF);
}
