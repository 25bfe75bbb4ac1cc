//! Runs benchmark shaders (or any .spv with up to three storage buffers at set 0) on one thread and prints CPU ms.
//!
//! `kernel_bench [--dump] [--lanes N] [--times N] [--level portable|neon|avx2|avx512] [name or path.spv [groups] …]`

#[path = "../tests/common/spirv.rs"]
mod spirv;
use simd::Level;
use spirv::*;
use std::time::Instant;

/// CPU time of this thread in ms: other processes do not count.
fn cpu() -> f64 {
    // SAFETY: fills the struct.
    unsafe {
        let mut t = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
        t.tv_sec as f64 * 1e3 + t.tv_nsec as f64 * 1e-6
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut dump, mut lanes, mut times, mut level) = (false, None, 5, settings::level());
    let mut names = vec![];
    while let Some(a) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse::<u32>().ok()).expect("a number");
        match a.as_str() {
            "--dump" => dump = true,
            "--lanes" => lanes = Some(number()),
            "--times" => times = number(),
            "--level" => {
                level = args.next().and_then(|name| Level::named(&name)).expect("a level of this CPU")
            }
            _ => names.push(a),
        }
    }
    if names.is_empty() {
        names = KERNELS.iter().map(|k| k.name.to_string()).collect();
    }
    println!("{level:?}, one thread");
    for name in names {
        let known = KERNELS.iter().find(|k| k.name == name);
        let other = Kernel { name: "", buffers: &[1 << 20; 3], groups: [64, 1, 1], push: &[], raw: false };
        let k = known.unwrap_or(&other);
        let path = if known.is_some() { k.path() } else { name.clone() };
        let words = load(&path);
        let t = Instant::now();
        let p = match compile(&words, lanes) {
            Ok(p) => p,
            Err(e) => {
                println!("{name:8} {e}");
                continue;
            }
        };
        let compiled = t.elapsed().as_secs_f64() * 1e3;
        if dump {
            println!("{}", shader::bytecode_print::print(&p));
            #[cfg(target_arch = "x86_64")]
            if let Some(c) = wave::jit::compile(&p, level) {
                let path = temporary::file(&name, ".code").expect("a temporary file");
                std::fs::write(&path, c.machine_code()).expect("the code is written");
                println!("{}: objdump -D -b binary -m i386:x86-64", path.display());
            }
        }
        let mut best = f64::MAX;
        let mut buffers = k.memory();
        let mut w = worker(level);
        for i in 0..times {
            let t = cpu();
            run(&mut w, &p, &mut buffers, k.push, k.groups, i as u64 + 1);
            best = best.min(cpu() - t);
        }
        let sum = buffers[0].iter().fold(0u64, |s, &w| s.wrapping_mul(31).wrapping_add(w as u64));
        println!(
            "{name:8} {best:9.3} ms  (compile {compiled:.2} ms, {} lanes, {} units, {} ops, prologue {}, sum {sum:016x})",
            p.lanes,
            p.units,
            p.code.len(),
            p.prologue
        );
    }
}
