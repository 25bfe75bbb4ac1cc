//! Products of matrices and cooperative vectors by VK_NV_cooperative_vector, one for each invocation, timed. Tests check them.
//! `vectors [ROWS [COLUMNS [WORKGROUPS]]]`

use client::compute::KernelInfo;
use client::vector::{GROUP, Product, SHARE};
use client::{Buffer, Context, Kernel, Library};
use std::time::Instant;

fn main() {
    let args: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let rows = args.first().copied().unwrap_or(64);
    let columns = args.get(1).copied().unwrap_or(rows);
    let groups = args.get(2).copied().unwrap_or(256);
    let mut features =
        vk::PhysicalDeviceCooperativeVectorFeaturesNV { cooperative_vector: 1, ..Default::default() };
    features.cooperative_vector_training = 1;
    let names = [c"VK_NV_cooperative_vector"];
    // SAFETY: a chain of features that outlives the call.
    let context = Context::extended(Library::any().unwrap(), &names, (&raw mut features).cast()).unwrap();
    let invocations = groups * GROUP;
    for (name, types) in [
        ("f16", [0, 0, 0, 0, 0]),
        ("f32", [1, 1, 1, 1, 1]),
        ("s8", [3, 3, 3, 5, 5]),
        ("e4m3", [0, 1_000_491_002, 1_000_491_002, 0, 0]),
    ] {
        for (layout, way, several) in
            [(0, "rows", false), (1, "columns", false), (2, "optimal", false), (2, "of each five", true)]
        {
            if name == "e4m3" && layout < 2 {
                continue;
            }
            let line = if layout == 1 { rows } else { columns };
            let stride = (line * 4).next_multiple_of(64);
            let p = Product {
                types,
                rows,
                columns,
                layout,
                transposed: false,
                stride,
                adds: true,
                input_step: (columns * 4).next_multiple_of(16),
                matrix_step: if several { rows * stride } else { 0 },
                result_step: (rows * 4).next_multiple_of(16),
            };
            let matrices = if several { invocations.div_ceil(SHARE) } else { 1 };
            let size = rows.max(columns) * stride * matrices;
            let sizes = [invocations * p.input_step, size, rows * 4, invocations * p.result_step];
            let buffers = sizes.map(|n| Buffer::new(&context, n as usize).unwrap());
            let spirv: Vec<u8> = p.spirv().iter().flat_map(|w| w.to_le_bytes()).collect();
            let begin = Instant::now();
            let kernel =
                Kernel::new(&context, &KernelInfo { spirv: &spirv, bindings: 4, push_size: 0 }).unwrap();
            let made = begin.elapsed().as_secs_f64();
            let list: Vec<&Buffer> = buffers.iter().collect();
            let commands = kernel.record(&list, &[], &[([0; 3], [groups, 1, 1])]).unwrap();
            let mut best = f64::MAX;
            for _ in 0..5 {
                let t = Instant::now();
                context.submit_and_wait(commands).unwrap();
                best = best.min(t.elapsed().as_secs_f64());
            }
            let rate = 2.0 * rows as f64 * columns as f64 * invocations as f64 / best / 1e9;
            println!(
                "{name} {rows} × {columns}, {way}: {:.2} ms, {rate:.1} G/s, pipeline {:.2} ms",
                best * 1e3,
                made * 1e3
            );
        }
    }
}
