//! A headless drawing program written against wgpu: triangles, instances, samples, depth, textures and render bundles,
//! compared with what must come out. One test in this file, for it sets the environment that the loader reads.

mod common;

use common::{Gpu, open};
use wgpu::util::DeviceExt;

/// Pixels of a side; a row of 4-byte pixels is then as long as copies to buffers want it.
const SIDE: u32 = 64;
const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
const BLUE: wgpu::Color = wgpu::Color { r: 0.0, g: 0.0, b: 1.0, a: 1.0 };

const SHADER: &str = "
    struct Corner { @builtin(position) at: vec4<f32>, @location(0) colour: vec4<f32> }
    // Position in pixels of a 64² target from the upper left, and depth.
    @vertex fn place(@location(0) p: vec3<f32>, @location(1) c: vec4<f32>, @location(2) shift: vec3<f32>) -> Corner {
        let at = p + shift;
        return Corner(vec4<f32>(at.x / 32.0 - 1.0, 1.0 - at.y / 32.0, at.z, 1.0), c);
    }
    @fragment fn shade(in: Corner) -> @location(0) vec4<f32> { return in.colour; }
    @group(0) @binding(0) var t: texture_2d<f32>;
    @group(0) @binding(1) var s: sampler;
    @fragment fn sample(in: Corner) -> @location(0) vec4<f32> { return textureSample(t, s, in.colour.xy); }
";

type Vertex = ([f32; 3], [f32; 4]);

struct Painter<'a> {
    gpu: &'a Gpu,
    module: wgpu::ShaderModule,
    /// One shift of nothing.
    still: wgpu::Buffer,
}

#[derive(Clone, Copy)]
struct Kind {
    samples: u32,
    depth: bool,
    blend: Option<wgpu::BlendState>,
    fragment: &'static str,
}

const PLAIN: Kind = Kind { samples: 1, depth: false, blend: None, fragment: "shade" };

fn bytes(floats: impl IntoIterator<Item = f32>) -> Vec<u8> {
    floats.into_iter().flat_map(f32::to_le_bytes).collect()
}

impl<'a> Painter<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let source = wgpu::ShaderSource::Wgsl(SHADER.into());
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let still = gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &[0; 12],
            usage: wgpu::BufferUsages::VERTEX,
        });
        Self { gpu, module, still }
    }

    fn vertices(&self, list: &[Vertex]) -> wgpu::Buffer {
        self.upload(
            &bytes(list.iter().flat_map(|(p, c)| p.iter().chain(c).copied())),
            wgpu::BufferUsages::VERTEX,
        )
    }

    fn upload(&self, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let info = wgpu::util::BufferInitDescriptor { label: None, contents, usage };
        self.gpu.device.create_buffer_init(&info)
    }

    fn pipeline(&self, kind: Kind) -> wgpu::RenderPipeline {
        let vertex = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x4];
        let instance = wgpu::vertex_attr_array![2 => Float32x3];
        let layouts = [
            Some(wgpu::VertexBufferLayout {
                array_stride: 28,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &vertex,
            }),
            Some(wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes: &instance,
            }),
        ];
        let depth = wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        };
        let target =
            wgpu::ColorTargetState { format: COLOUR, blend: kind.blend, write_mask: wgpu::ColorWrites::ALL };
        self.gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some("place"),
                compilation_options: Default::default(),
                buffers: &layouts,
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: kind.depth.then_some(depth),
            multisample: wgpu::MultisampleState { count: kind.samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &self.module,
                entry_point: Some(kind.fragment),
                compilation_options: Default::default(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    fn target(&self, format: wgpu::TextureFormat, samples: u32) -> wgpu::Texture {
        self.gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: samples,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: if samples == 1 {
                wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC
            } else {
                wgpu::TextureUsages::RENDER_ATTACHMENT
            },
            view_formats: &[],
        })
    }

    /// One pass over blue, resolved where it has samples: the pixels.
    fn draw(&self, kind: Kind, record: impl FnOnce(&mut wgpu::RenderPass)) -> Vec<[u8; 4]> {
        let colour = self.target(COLOUR, 1);
        let view = colour.create_view(&Default::default());
        let many =
            (kind.samples > 1).then(|| self.target(COLOUR, kind.samples).create_view(&Default::default()));
        let depth = kind.depth.then(|| self.target(DEPTH, kind.samples).create_view(&Default::default()));
        let words = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(SIDE * SIDE * 4),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let pixels = self.gpu.run(&words, |encoder| {
            let attachment = wgpu::RenderPassColorAttachment {
                view: many.as_ref().unwrap_or(&view),
                depth_slice: None,
                resolve_target: many.as_ref().map(|_| &view),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(BLUE), store: wgpu::StoreOp::Store },
            };
            let depth = depth.as_ref().map(|view| wgpu::RenderPassDepthStencilAttachment {
                view,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            });
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &[Some(attachment)],
                depth_stencil_attachment: depth,
                ..Default::default()
            });
            pass.set_vertex_buffer(1, self.still.slice(..));
            record(&mut pass);
            drop(pass);
            encoder.copy_texture_to_buffer(
                colour.as_image_copy(),
                wgpu::TexelCopyBufferInfo {
                    buffer: &words,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(SIDE * 4),
                        rows_per_image: None,
                    },
                },
                colour.size(),
            );
        });
        pixels.into_iter().map(u32::to_le_bytes).collect()
    }
}

/// Every pixel is what `want` says, up to `tolerance` in a channel.
fn check(what: &str, pixels: &[[u8; 4]], tolerance: f64, want: impl Fn(u32, u32) -> [f64; 4]) {
    for (i, got) in pixels.iter().enumerate() {
        let (x, y) = (i as u32 % SIDE, i as u32 / SIDE);
        let want = want(x, y);
        let apart = (0..4).map(|c| (f64::from(got[c]) - want[c]).abs()).fold(0.0, f64::max);
        assert!(apart <= tolerance, "{what}: pixel {x}, {y} is {got:?}, not {want:?}");
    }
}

const ON_BLUE: [f64; 4] = [0.0, 0.0, 255.0, 255.0];

fn rectangle(from: [f32; 2], to: [f32; 2], z: f32, colour: [f32; 4]) -> Vec<Vertex> {
    let corner = |x, y| ([x, y, z], colour);
    let (a, b, c, d) =
        (corner(from[0], from[1]), corner(to[0], from[1]), corner(from[0], to[1]), corner(to[0], to[1]));
    vec![a, b, c, c, b, d]
}

/// The upper left half, whose diagonal goes through pixel centres: the triangle of that side does not own them (they
/// lie on a right edge). Colours are a linear gradient.
fn triangle(painter: &Painter) {
    let pipeline = painter.pipeline(PLAIN);
    let buffer = painter.vertices(&[
        ([0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]),
        ([64.0, 0.0, 0.5], [1.0, 0.0, 0.0, 1.0]),
        ([0.0, 64.0, 0.5], [0.0, 1.0, 0.0, 1.0]),
    ]);
    let pixels = painter.draw(PLAIN, |pass| {
        pass.set_pipeline(&pipeline);
        pass.set_vertex_buffer(0, buffer.slice(..));
        pass.draw(0..3, 0..1);
    });
    check("triangle", &pixels, 1.0, |x, y| match x + y < 63 {
        true => [(f64::from(x) + 0.5) / 64.0 * 255.0, (f64::from(y) + 0.5) / 64.0 * 255.0, 0.0, 255.0],
        false => ON_BLUE,
    });
}

/// Sixteen squares by index and instance, blended half over blue.
fn instances(painter: &Painter) {
    let kind = Kind { blend: Some(wgpu::BlendState::ALPHA_BLENDING), ..PLAIN };
    let pipeline = painter.pipeline(kind);
    let corners = rectangle([2.0, 2.0], [10.0, 12.0], 0.5, [1.0, 0.0, 0.0, 0.5]);
    let buffer = painter.vertices(&[corners[0], corners[1], corners[2], corners[5]]);
    let indices: Vec<u8> = [0u16, 1, 2, 2, 1, 3].iter().flat_map(|i| i.to_le_bytes()).collect();
    let indices = painter.upload(&indices, wgpu::BufferUsages::INDEX);
    let shifts = (0..16u32).flat_map(|i| [(i % 4) as f32 * 16.0, (i / 4) as f32 * 16.0, 0.0]);
    let shifts = painter.upload(&bytes(shifts), wgpu::BufferUsages::VERTEX);
    let pixels = painter.draw(kind, |pass| {
        pass.set_pipeline(&pipeline);
        pass.set_vertex_buffer(0, buffer.slice(..));
        pass.set_vertex_buffer(1, shifts.slice(..));
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint16);
        pass.draw_indexed(0..6, 0, 0..16);
    });
    check("instances", &pixels, 1.0, |x, y| {
        match (2..10).contains(&(x % 16)) && (2..12).contains(&(y % 16)) {
            true => [127.5, 0.0, 127.5, 255.0],
            false => ON_BLUE,
        }
    });
}

/// Edges a quarter of a pixel beyond a border cover so many of the four samples (WebGPU's sample locations are
/// Vulkan's standard ones: eighths 3/1, 7/3, 1/5, 5/7).
fn samples(painter: &Painter) {
    let kind = Kind { samples: 4, ..PLAIN };
    let pipeline = painter.pipeline(kind);
    let white = [1.0; 4];
    let buffer = painter.vertices(&rectangle([8.25, 16.75], [40.5, 48.0], 0.5, white));
    let pixels = painter.draw(kind, |pass| {
        pass.set_pipeline(&pipeline);
        pass.set_vertex_buffer(0, buffer.slice(..));
        pass.draw(0..6, 0..1);
    });
    check("samples", &pixels, 1.0, |x, y| {
        let inside = [[3, 1], [7, 3], [1, 5], [5, 7]].into_iter().filter(|[sx, sy]| {
            let (px, py) = (x * 8 + sx, y * 8 + sy);
            (66..324).contains(&px) && (134..384).contains(&py)
        });
        let share = inside.count() as f64 / 4.0;
        [share * 255.0, share * 255.0, 255.0, 255.0]
    });
}

/// Two planes through one another, with samples and without: the nearer one is seen.
fn depth(painter: &Painter) {
    for samples in [1, 4] {
        let kind = Kind { samples, depth: true, ..PLAIN };
        let pipeline = painter.pipeline(kind);
        let slope = |from: f32, to: f32, colour: [f32; 4]| -> Vec<Vertex> {
            let corner = |x: f32, y: f32| ([x, y, if x == 0.0 { from } else { to }], colour);
            let (a, b, c, d) = (corner(0.0, 0.0), corner(64.0, 0.0), corner(0.0, 64.0), corner(64.0, 64.0));
            vec![a, b, c, c, b, d]
        };
        // They meet at x = 40 exactly, between two pixels.
        let mut list = slope(0.25, 0.75, [1.0, 0.0, 0.0, 1.0]);
        list.extend(slope(0.875, 0.375, [0.0, 1.0, 0.0, 1.0]));
        let buffer = painter.vertices(&list);
        let pixels = painter.draw(kind, |pass| {
            pass.set_pipeline(&pipeline);
            pass.set_vertex_buffer(0, buffer.slice(..));
            // The order does not matter.
            pass.draw(6..12, 0..1);
            pass.draw(0..6, 0..1);
        });
        check("depth", &pixels, 0.0, |x, _| match x < 40 {
            true => [255.0, 0.0, 0.0, 255.0],
            false => [0.0, 255.0, 0.0, 255.0],
        });
    }
}

/// A chequered texture of two levels, magnified (nearest) and minified by two (linear): squares, then their mean.
fn texture(painter: &Painter) {
    let device = &painter.gpu.device;
    let size = wgpu::Extent3d { width: 8, height: 8, depth_or_array_layers: 1 };
    let light = |x: u32, y: u32| if (x + y).is_multiple_of(2) { 240u8 } else { 16 };
    let mut texels: Vec<u8> = (0..64).flat_map(|i| [light(i % 8, i / 8), 100, 0, 255]).collect();
    texels.extend((0..16).flat_map(|_| [128, 200, 0, 255]));
    let info = wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 2,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: COLOUR,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    };
    let order = wgpu::util::TextureDataOrder::MipMajor;
    let image = device.create_texture_with_data(&painter.gpu.queue, &info, order, &texels);
    let view = image.create_view(&Default::default());
    let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
        address_mode_u: wgpu::AddressMode::Repeat,
        address_mode_v: wgpu::AddressMode::Repeat,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    let kind = Kind { fragment: "sample", ..PLAIN };
    let pipeline = painter.pipeline(kind);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&view) },
            wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&sampler) },
        ],
    });
    // The left half has four pixels a texel, the right half two texels a pixel.
    let mut list = Vec::new();
    for (x, texels_a_pixel) in [(0.0f32, 0.25f32), (32.0, 2.0)] {
        for (p, _) in rectangle([x, 0.0], [x + 32.0, 64.0], 0.5, [0.0; 4]) {
            list.push((p, [(p[0] - x) * texels_a_pixel / 8.0, p[1] * texels_a_pixel / 8.0, 0.0, 0.0]));
        }
    }
    let buffer = painter.vertices(&list);
    let pixels = painter.draw(kind, |pass| {
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_vertex_buffer(0, buffer.slice(..));
        pass.draw(0..12, 0..1);
    });
    check("texture", &pixels, 0.0, |x, y| match x < 32 {
        true => [f64::from(light(x / 4, y / 4)), 100.0, 0.0, 255.0],
        false => [128.0, 200.0, 0.0, 255.0],
    });
}

/// A bundle, executed twice in one pass around a draw of its own.
fn bundle(painter: &Painter) {
    let kind = Kind { depth: true, ..PLAIN };
    let pipeline = painter.pipeline(kind);
    let (red, green) = ([1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
    let near = painter.vertices(&rectangle([0.0, 0.0], [20.0, 64.0], 0.25, red));
    let far = painter.vertices(&rectangle([10.0, 8.0], [60.0, 56.0], 0.75, green));
    let mut encoder = painter.gpu.device.create_render_bundle_encoder(&wgpu::RenderBundleEncoderDescriptor {
        color_formats: &[Some(COLOUR)],
        depth_stencil: Some(wgpu::RenderBundleDepthStencil {
            format: DEPTH,
            depth_read_only: false,
            stencil_read_only: true,
        }),
        sample_count: 1,
        ..Default::default()
    });
    encoder.set_pipeline(&pipeline);
    encoder.set_vertex_buffer(0, near.slice(..));
    encoder.set_vertex_buffer(1, painter.still.slice(..));
    encoder.draw(0..6, 0..1);
    let bundle = encoder.finish(&Default::default());
    let pixels = painter.draw(kind, |pass| {
        pass.execute_bundles([&bundle]);
        // A bundle leaves no state behind.
        pass.set_pipeline(&pipeline);
        pass.set_vertex_buffer(0, far.slice(..));
        pass.set_vertex_buffer(1, painter.still.slice(..));
        pass.draw(0..6, 0..1);
        pass.execute_bundles([&bundle]);
    });
    check("bundle", &pixels, 0.0, |x, y| match (x, y) {
        (0..20, _) => [255.0, 0.0, 0.0, 255.0],
        (20..60, 8..56) => [0.0, 255.0, 0.0, 255.0],
        _ => ON_BLUE,
    });
}

#[test]
fn wgpu_draws_on_tuff() {
    let gpu = open();
    let painter = Painter::new(&gpu);
    triangle(&painter);
    instances(&painter);
    samples(&painter);
    depth(&painter);
    texture(&painter);
    bundle(&painter);
}
