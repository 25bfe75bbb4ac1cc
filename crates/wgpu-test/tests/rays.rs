//! Ray queries of a program written against wgpu: structures that wgpu builds and compacts, WGSL in, hits by hand out. One test in this
//! file, for it sets the environment that the loader reads.

mod common;

use common::{Gpu, open_with};
use std::sync::mpsc::channel;

const SHADER: &str = "
    enable wgpu_ray_query;
    @group(0) @binding(0) var scene: acceleration_structure;
    @group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
    @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        // Rays down from (0.25 + x, 0.25, 5).
        let origin = vec3<f32>(0.25 + f32(id.x), 0.25, 5.0);
        var query: ray_query;
        rayQueryInitialize(&query, scene, RayDesc(0u, 0xFFu, 0.0, 100.0, origin, vec3<f32>(0.0, 0.0, -1.0)));
        while rayQueryProceed(&query) {}
        let hit = rayQueryGetCommittedIntersection(&query);
        out[id.x] = vec4<f32>(f32(hit.kind), hit.t, f32(hit.instance_custom_data), f32(hit.primitive_index));
    }";

/// Two triangles: at z = 0 and at z = 1; both have (0.25, 0.25) inside.
fn triangles(gpu: &Gpu) -> (wgpu::Buffer, wgpu::BlasTriangleGeometrySizeDescriptor) {
    let corners = |z: f32| [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]];
    let words: Vec<u32> =
        [corners(0.0), corners(1.0)].as_flattened().as_flattened().iter().map(|v| v.to_bits()).collect();
    let size = wgpu::BlasTriangleGeometrySizeDescriptor {
        vertex_format: wgpu::VertexFormat::Float32x3,
        vertex_count: 6,
        index_format: None,
        index_count: None,
        flags: wgpu::AccelerationStructureGeometryFlags::OPAQUE,
    };
    (gpu.buffer(&words, wgpu::BufferUsages::BLAS_INPUT), size)
}

/// At x = 0 and at x = 2, the second twice as high and with other data; nothing at x = 1.
fn top(gpu: &Gpu, bottom: &wgpu::Blas) -> wgpu::Tlas {
    let mut top = gpu.device.create_tlas(&wgpu::CreateTlasDescriptor {
        label: None,
        max_instances: 2,
        flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE,
        update_mode: wgpu::AccelerationStructureUpdateMode::Build,
    });
    let moved = |x: f32, s: f32| [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, s, 0.0];
    top[0] = Some(wgpu::TlasInstance::new(bottom, moved(0.0, 1.0), 7, 0xFF));
    top[1] = Some(wgpu::TlasInstance::new(bottom, moved(2.0, 2.0), 9, 0xFF));
    top
}

#[test]
fn rays_of_wgpu_hit_what_it_has_built() {
    let limits = wgpu::Limits::default().using_minimum_supported_acceleration_structure_values();
    let gpu = open_with(wgpu::Features::EXPERIMENTAL_RAY_QUERY, limits).expect("ray queries");
    let (vertices, size) = triangles(&gpu);
    let bottom = gpu.device.create_blas(
        &wgpu::CreateBlasDescriptor {
            label: None,
            flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE
                | wgpu::AccelerationStructureFlags::ALLOW_COMPACTION,
            update_mode: wgpu::AccelerationStructureUpdateMode::Build,
        },
        wgpu::BlasGeometrySizeDescriptors::Triangles { descriptors: vec![size.clone()] },
    );
    let pipeline = gpu.pipeline(SHADER);
    let traced = |top: &wgpu::Tlas, build: Option<&wgpu::Blas>| -> Vec<[f32; 4]> {
        let out = gpu.buffer(&[0; 16 * 4], wgpu::BufferUsages::STORAGE);
        let group = gpu.bind(&pipeline, &[top.as_binding(), out.as_entire_binding()]);
        let words = gpu.run(&out, |encoder| {
            let bottoms = build.map(|blas| wgpu::BlasBuildEntry {
                blas,
                geometry: wgpu::BlasGeometries::TriangleGeometries(vec![wgpu::BlasTriangleGeometry {
                    size: &size,
                    vertex_buffer: &vertices,
                    first_vertex: 0,
                    vertex_stride: 12,
                    index_buffer: None,
                    first_index: None,
                    transform_buffer: None,
                    transform_buffer_offset: None,
                }]),
            });
            encoder.build_acceleration_structures(bottoms.iter(), [top]);
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        });
        words.chunks(4).map(|w| std::array::from_fn(|k| f32::from_bits(w[k]))).collect()
    };
    // The upper triangle (primitive 1) is at z = 1, in the second instance at z = 2: from 5 down 4 and 3.
    let expect = |hits: Vec<[f32; 4]>, what: &str| {
        for (x, hit) in hits.iter().enumerate() {
            match x {
                0 => assert_eq!(*hit, [1.0, 4.0, 7.0, 1.0], "{what}"),
                2 => assert_eq!(*hit, [1.0, 3.0, 9.0, 1.0], "{what}"),
                _ => assert_eq!(hit[0], 0.0, "{what}: {x}: {hit:?}"),
            }
        }
    };
    expect(traced(&top(&gpu, &bottom), Some(&bottom)), "as built");
    let (say, said) = channel();
    bottom.prepare_compaction_async(move |r| {
        let _ = say.send(r.is_ok());
    });
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
    assert!(said.recv().expect("an answer"), "its compacted size");
    let compact = gpu.queue.compact_blas(&bottom);
    expect(traced(&top(&gpu, &compact), None), "compacted");
}
