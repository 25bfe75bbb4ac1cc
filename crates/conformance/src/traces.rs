//! Workloads whose accesses go through the modelled caches, as samples or all of them (`TUFF_TRACE`): what they read of external memory and wrote to it.

use crate::check::text;
use crate::meter::Meter;
use client::compute::KernelInfo;
use client::kernels::KERNELS;
use client::pictures::{PICTURES, Ready};
use client::{Buffer, Context, Kernel};

/// Kernels and pictures that read memory, each done twice: the second time the L2 has what it can.
const KERNELS_RUN: [&str; 6] = ["saxpy", "sgemmt", "nbody", "trans", "lut", "med"];
const DRAWN: [&str; 3] = ["tex", "tex+blend", "tri"];
// What `tri` reads, by hand: 200 000 triangles of 10 pixels, of three vertices of 32 bytes each and with no indices. Binning reads every vertex's line for
// its position: 19.2 MB, more than the L2 keeps. An equilateral triangle of that area is 4.81 pixels a side, and 3 · 4.81 / π = 4.59 wide on average, so that
// it lies in one region of 64 × 64 with the probability (1 − 4.59 / 64)² = 0.862. Such triangles are shaded again by their region, in which no neighbours of
// theirs in memory are: 96 bytes in two lines each, 200 000 · 0.862 · 128 = 22.1 MB. Together 41.3 MB; the table has 41.2.
/// Groups of a kernel in one dimension are cut to this.
const GROUPS: u32 = 4096;
/// A shader of the microbenchmarks writes so many KiB, and then one copies them, as 64 words a workgroup, and again.
const CHAINS: [u32; 5] = [16, 64, 256, 1024, 4096];
const WRITE: u32 = 20;
const COPY: u32 = 21;

pub const COUNTERS: [&str; 2] = ["Output external read bytes", "Output external write bytes"];

/// Prints a line of each: `name;read;written`.
pub fn run() -> Result<(), String> {
    let context = Context::open().map_err(text)?;
    let meter = Meter::new()?;
    let told = |name: &str, work: &dyn Fn() -> client::Result<()>| {
        let [read, written] = meter.counted(COUNTERS, work)?;
        println!("{name};{read};{written}");
        Ok::<(), String>(())
    };
    for spec in KERNELS.iter().filter(|k| KERNELS_RUN.contains(&k.name)) {
        let kernel = spec.make_kernel(&context).map_err(text)?;
        let buffers = spec.make_buffers(&context).map_err(text)?;
        let buffers: Vec<&Buffer> = buffers.iter().collect();
        let [x, y, z] = spec.groups;
        for again in ["", ", again"] {
            let work = || kernel.run(&buffers, &spec.push(), [x.min(GROUPS), y, z]);
            told(&format!("{}{again}", spec.name), &work)?;
        }
    }
    let spirv = include_bytes!("../shaders/micro/memory.comp.spv");
    let kernel = Kernel::new(&context, &KernelInfo { spirv, bindings: 2, push_size: 12 }).map_err(text)?;
    let largest = CHAINS.into_iter().max().unwrap_or(0) as usize * 1024;
    let [a, b] = [(); 2].map(|_| Buffer::new(&context, largest));
    let [a, b] = [a.map_err(text)?, b.map_err(text)?];
    for kib in CHAINS {
        let run = |what: u32, buffers: [&Buffer; 2], groups: u32| {
            let push: Vec<u8> = [what, 0, 0].iter().flat_map(|w| w.to_le_bytes()).collect();
            kernel.run(&buffers, &push, [groups, 1, 1])
        };
        told(&format!("{kib} KiB written"), &|| run(WRITE, [&b, &a], kib * 4))?;
        told(&format!("{kib} KiB copied"), &|| run(COPY, [&a, &b], kib * 4))?;
        told(&format!("half of {kib} KiB copied back"), &|| run(COPY, [&b, &a], kib * 2))?;
    }
    for spec in PICTURES.iter().filter(|p| DRAWN.contains(&p.name)) {
        let ready = Ready::new(&context, spec).map_err(text)?;
        for again in ["", ", again"] {
            told(&format!("{}{again}", spec.name), &|| ready.pass())?;
        }
    }
    Ok(())
}
