//! Runs `trips.comp`, instrumented with atomics, on the driver that the environment shows, and prints the counts of
//! its blocks: those of 32 bits, then those of 64.

use client::compute::KernelInfo;
use client::{Buffer, Context, Kernel, Result};
use conformance::trips::{INVOCATIONS, START, trips};
use shader::Module;
use shader::instrument::{Counters, Entry, Form, instrument};

fn counts(wide: bool) -> Result<Vec<u64>> {
    let context = Context::open()?;
    let words = client::words(conformance::trips::SPIRV);
    let failed = |e: shader::options::Error| client::Error(e.to_string());
    let module = Module::parse(&words).map_err(failed)?;
    let form = Form::Atomics(Counters { set: 0, binding: 2, wide });
    let made = instrument(&module, Entry::All, form).map_err(failed)?;
    let spirv: Vec<u8> = made.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let kernel = Kernel::new(&context, &KernelInfo { spirv: &spirv, bindings: 3, push_size: 0 })?;
    let result = Buffer::new(&context, INVOCATIONS as usize * 4)?;
    let mut input = Buffer::new(&context, INVOCATIONS as usize * 4)?;
    input.words_mut().copy_from_slice(&trips());
    let mut counters = Buffer::new(&context, made.blocks.len() * if wide { 8 } else { 4 })?;
    let words = counters.words_mut();
    words.fill(0);
    if wide {
        words.iter_mut().step_by(2).for_each(|w| *w = START);
    }
    kernel.run(&[&result, &input, &counters], &[], [INVOCATIONS / 32, 1, 1])?;
    Ok(match wide {
        false => counters.words().iter().map(|&w| u64::from(w)).collect(),
        true => counters
            .words()
            .chunks_exact(2)
            .map(|w| (u64::from(w[1]) << 32 | u64::from(w[0])) - u64::from(START))
            .collect(),
    })
}

fn main() -> std::process::ExitCode {
    for wide in [false, true] {
        match counts(wide) {
            Ok(c) => println!("{c:?}"),
            Err(e) => {
                println!("WRONG: {e}");
                return std::process::ExitCode::FAILURE;
            }
        }
    }
    std::process::ExitCode::SUCCESS
}
