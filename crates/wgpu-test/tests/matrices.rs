//! A product of matrices by wgpu's cooperative matrices: naga's SPIR-V, results compared with the CPU's to the last bit. One test in
//! this file, for it sets the environment that the loader reads.

mod common;

use common::open_with;
use wgpu::BufferUsages;

const N: usize = 64;

const PRODUCT: &str = "enable wgpu_cooperative_matrix;
    @group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> c: array<f32>;
    @compute @workgroup_size(16) fn main(@builtin(workgroup_id) tile: vec3<u32>) {
        let at = tile.y * 16u * 64u + tile.x * 16u;
        var sum = coopLoadT<coop_mat16x16<f32, C>>(&c[at], 64u);
        for (var k = 0u; k < 64u; k += 16u) {
            let x = coopLoadT<coop_mat16x16<f32, A>>(&a[tile.y * 16u * 64u + k], 64u);
            let y = coopLoadT<coop_mat16x16<f32, B>>(&b[k * 64u + tile.x * 16u], 64u);
            sum = coopMultiplyAdd(x, y, sum);
        }
        coopStoreT(sum, &c[at], 64u);
    }";

#[test]
fn a_product_of_cooperative_matrices_is_the_cpus() {
    let features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
    let gpu = open_with(features, wgpu::Limits::default()).expect("cooperative matrices");
    let numbers = |step: u32| -> Vec<f32> {
        (0..N * N).map(|i| (i as u32).wrapping_mul(step) as i32 as f32 / (1u32 << 30) as f32).collect()
    };
    let (a, b, c) = (numbers(0x9E37_79B9), numbers(0x85EB_CA6B), numbers(0xC2B2_AE35));
    let buffers = [&a, &b, &c].map(|m| {
        let words: Vec<u32> = m.iter().map(|x| x.to_bits()).collect();
        gpu.buffer(&words, BufferUsages::STORAGE)
    });
    let pipeline = gpu.pipeline(PRODUCT);
    let group = gpu.bind(&pipeline, &buffers.each_ref().map(|b| b.as_entire_binding()));
    let got = gpu.run(&buffers[2], |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(N as u32 / 16, N as u32 / 16, 1);
    });
    for (i, got) in got.into_iter().enumerate() {
        // docs/ml.md: one fused multiply-add for each k in order.
        let (row, column) = (i / N, i % N);
        let want = (0..N).fold(c[i], |sum, k| a[row * N + k].mul_add(b[k * N + column], sum));
        assert_eq!(f32::from_bits(got), want, "row {row}, column {column}");
    }
}
