//! A headless compute program written against wgpu: WGSL in, naga's SPIR-V to the driver through the Vulkan loader,
//! results compared with the CPU's. One test in this file, for it sets the environment that the loader reads.

mod common;

use common::{Gpu, open};

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE;

/// Steps of the Collatz sequence, wgpu's own first example of compute.
fn collatz(gpu: &Gpu) {
    let pipeline = gpu.pipeline(
        "@group(0) @binding(0) var<storage, read_write> v: array<u32>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             if id.x >= arrayLength(&v) { return; }
             var n = v[id.x]; var i = 0u;
             while n > 1u { if n % 2u == 0u { n = n / 2u; } else { n = 3u * n + 1u; } i += 1u; }
             v[id.x] = i;
         }",
    );
    let input: Vec<u32> = (0..50_001).collect();
    let buffer = gpu.buffer(&input, STORAGE);
    let group = gpu.bind(&pipeline, &[buffer.as_entire_binding()]);
    let output = gpu.run(&buffer, |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(50_001u32.div_ceil(64), 1, 1);
    });
    for (n, got) in input.iter().zip(output) {
        let (mut m, mut steps) = (*n, 0);
        while m > 1 {
            m = if m % 2 == 0 { m / 2 } else { 3 * m + 1 };
            steps += 1;
        }
        assert_eq!(got, steps, "collatz of {n}");
    }
}

/// A tiled matrix product: workgroup memory, barriers, a uniform buffer.
fn product(gpu: &Gpu) {
    const N: usize = 96;
    let pipeline = gpu.pipeline(
        "struct Size { n: u32, scale: f32 }
         @group(0) @binding(0) var<storage, read> a: array<f32>;
         @group(0) @binding(1) var<storage, read> b: array<f32>;
         @group(0) @binding(2) var<storage, read_write> c: array<f32>;
         @group(0) @binding(3) var<uniform> size: Size;
         var<workgroup> ta: array<array<f32, 16>, 16>;
         var<workgroup> tb: array<array<f32, 16>, 16>;
         @compute @workgroup_size(16, 16) fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>) {
             var s = 0.0;
             for (var t = 0u; t < size.n; t += 16u) {
                 ta[l.y][l.x] = a[g.y * size.n + t + l.x]; tb[l.y][l.x] = b[(t + l.y) * size.n + g.x];
                 workgroupBarrier();
                 for (var k = 0u; k < 16u; k++) { s += ta[l.y][k] * tb[k][l.x]; }
                 workgroupBarrier();
             }
             c[g.y * size.n + g.x] = s * size.scale;
         }",
    );
    // Small integers: every sum is exact, whatever its order.
    let value = |i: usize, step: usize| ((i * step) % 17) as f32 - 8.0;
    let a: Vec<u32> = (0..N * N).map(|i| value(i, 7).to_bits()).collect();
    let b: Vec<u32> = (0..N * N).map(|i| value(i, 5).to_bits()).collect();
    let (a, b) = (gpu.buffer(&a, STORAGE), gpu.buffer(&b, STORAGE));
    let c = gpu.buffer(&vec![0; N * N], STORAGE);
    let size = gpu.buffer(&[N as u32, 0.5f32.to_bits(), 0, 0], wgpu::BufferUsages::UNIFORM);
    let group = gpu.bind(
        &pipeline,
        &[a.as_entire_binding(), b.as_entire_binding(), c.as_entire_binding(), size.as_entire_binding()],
    );
    let output = gpu.run(&c, |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(N as u32 / 16, N as u32 / 16, 1);
    });
    for (i, got) in output.into_iter().enumerate() {
        let (r, c) = (i / N, i % N);
        let sum: f32 = (0..N).map(|k| value(r * N + k, 7) * value(k * N + c, 5)).sum();
        assert_eq!(f32::from_bits(got), sum * 0.5, "row {r}, column {c}");
    }
}

/// One dispatch writes a texture, a second one loads and samples it, counts with atomics and is sized on the device.
fn texture(gpu: &Gpu) {
    const SIDE: u32 = 64;
    let draw = gpu.pipeline(
        "@group(0) @binding(0) var t: texture_storage_2d<rgba8unorm, write>;
         @group(0) @binding(1) var<storage, read_write> groups: array<u32, 3>;
         @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
             textureStore(t, g.xy, vec4<f32>(vec2<f32>(g.xy * 4u) / 255.0, f32((g.x ^ g.y) & 1u), 1.0));
             if all(g == vec3<u32>(0u)) { groups[0] = 8u; groups[1] = 8u; groups[2] = 1u; }
         }",
    );
    let read = gpu.pipeline(
        "@group(0) @binding(0) var t: texture_2d<f32>;
         @group(0) @binding(1) var s: sampler;
         @group(0) @binding(2) var<storage, read_write> o: array<u32>;
         @group(0) @binding(3) var<storage, read_write> count: atomic<u32>;
         @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
             let exact = textureLoad(t, g.xy, 0);
             // Half-way between four texels.
             let mean = textureSampleLevel(t, s, vec2<f32>(g.xy + 1u) / 64.0, 0.0);
             o[g.y * 64u + g.x] = pack4x8unorm(vec4<f32>(exact.xyz, mean.x));
             if exact.z > 0.5 { atomicAdd(&count, 1u); }
         }",
    );
    let picture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    let view = picture.create_view(&Default::default());
    let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    let groups = gpu.buffer(&[0; 3], STORAGE | wgpu::BufferUsages::INDIRECT);
    let output = gpu.buffer(&[0; (SIDE * SIDE) as usize], STORAGE);
    let count = gpu.buffer(&[0], STORAGE);
    let view = wgpu::BindingResource::TextureView(&view);
    let draw_group = gpu.bind(&draw, &[view.clone(), groups.as_entire_binding()]);
    let read_group = gpu.bind(
        &read,
        &[
            view,
            wgpu::BindingResource::Sampler(&sampler),
            output.as_entire_binding(),
            count.as_entire_binding(),
        ],
    );
    let words = gpu.run(&output, |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&draw);
        pass.set_bind_group(0, &draw_group, &[]);
        pass.dispatch_workgroups(SIDE / 8, SIDE / 8, 1);
        pass.set_pipeline(&read);
        pass.set_bind_group(0, &read_group, &[]);
        pass.dispatch_workgroups_indirect(&groups, 0);
    });
    for (i, word) in words.into_iter().enumerate() {
        let (x, y) = (i as u32 % SIDE, i as u32 / SIDE);
        let [r, g, b, mean] = word.to_le_bytes().map(u32::from);
        assert_eq!((r, g, b), (x * 4, y * 4, ((x ^ y) & 1) * 255), "texel {x}, {y}");
        // The right border is clamped to its own texel.
        let want = if x + 1 < SIDE { x * 4 + 2 } else { x * 4 };
        assert!(mean.abs_diff(want) <= 1, "sampled at {x}, {y}: {mean}, not {want}");
    }
    assert_eq!(gpu.run(&count, |_| {}), [SIDE * SIDE / 2]);
}

#[test]
fn wgpu_computes_on_tuff() {
    let gpu = open();
    collatz(&gpu);
    product(&gpu);
    texture(&gpu);
}
