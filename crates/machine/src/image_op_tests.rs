//! Queries, and descriptors that are not there, from SPIR-V to the images: what a shader's wave gets.
//! `shaders/queries.spv` is what `glslangValidator -V --target-env vulkan1.2` made of the source beside it.
//!
//! Expectations: SPIR-V's OpImageQueryLod (the level accessed, then the computed level of detail; relative to the
//! base level), the chapters "Image View Selection … Level(s) Selection" of Vulkan's texture page for both, and for
//! null descriptors "Loads from a null descriptor return zero values and stores … are discarded".

use ash::vk;
use shader::bytecode::{ImageCode, Program};
use shader::ir::Stage;
use shader::options::{Binding, DESCRIPTOR_BYTES, Options, WaveWidth};
use simd::Level;
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::for_tests::{bound_image, info_2d};
use texel::image::Image;
use texel::memory::{Bound, DeviceMemory};
use texel::sample::{BufferView, ImageView, Sampler};
use wave::{Dispatch, Host, ImageWarp, Table, Worker};

struct Images;
impl Host for Images {
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp) {
        // SAFETY: the caller's descriptors.
        unsafe { super::run(code, warp) }
    }
    fn foreign_from(&self, _: u64) -> Option<u64> {
        None
    }
    fn clock(&self) -> u64 {
        1
    }
    fn expired(&self) -> bool {
        false
    }
}

/// Array elements of each binding of the shader.
const COUNTS: [u32; 9] = [1, 3, 1, 1, 1, 1, 2, 2, 1];

/// Byte offset of a binding's first descriptor.
fn offset(binding: u32) -> u32 {
    COUNTS[..binding as usize].iter().sum::<u32>() * DESCRIPTOR_BYTES
}

fn program(lanes: u32) -> Program {
    let bytes = include_bytes!("../shaders/queries.spv");
    let words = shader::words(bytes);
    let binding = |_: u32, b: u32| {
        let count = *COUNTS.get(b as usize)?;
        Some(Binding::new(0, offset(b), count))
    };
    let options =
        Options { width: WaveWidth::Lanes(lanes), ..Options::new(Stage::Compute, "main", &binding) };
    shader::compile(&shader::Module::parse(&words).expect("parses"), &options).expect("compiles")
}

fn view_of(image: &Arc<Image>, kind: vk::ImageViewType, base_level: u32) -> ImageView {
    let info = vk::ImageViewCreateInfo::default()
        .view_type(kind)
        .format(image.format.format)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: base_level,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        });
    ImageView::new(image.clone(), &info, 0.0).expect("a view")
}

fn image(kind: vk::ImageType, extent: [u32; 3], levels: u32, layers: u32) -> Arc<Image> {
    let [width, height, depth] = extent;
    let mut info = info_2d(vk::Format::R8G8B8A8_UNORM, 1, 1)
        .image_type(kind)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(levels)
        .array_layers(layers);
    if layers.is_multiple_of(6) {
        info = info.flags(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    }
    bound_image(&info)
}

/// What the descriptors show.
struct Scene {
    texture: ImageView,
    samplers: [Sampler; 3],
    layers: ImageView,
    cubes: ImageView,
    volume: ImageView,
    lines: ImageView,
    texels: BufferView,
    storage: ImageView,
    block: [u32; 5],
}

impl Scene {
    fn new(texture: ImageView) -> Scene {
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE);
        let linear = info.mipmap_mode(vk::SamplerMipmapMode::LINEAR);
        let make =
            |i: vk::SamplerCreateInfo| Sampler::new(&i, None, vk::SamplerReductionMode::WEIGHTED_AVERAGE);
        use vk::ImageType as T;
        use vk::ImageViewType as V;
        let usage = vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER;
        let buffer = Buffer::new(400, usage, vk::BufferCreateFlags::empty());
        let memory = DeviceMemory::allocate(texel::for_tests::space(), 400, 0, false).expect("memory");
        assert!(buffer.bound.set(Bound { memory, offset: 0 }).is_ok());
        Scene {
            texture,
            samplers: [make(linear), make(info), make(linear.mip_lod_bias(0.5).min_lod(0.25).max_lod(1.25))],
            layers: view_of(&image(T::TYPE_2D, [40, 20, 1], 3, 5), V::TYPE_2D_ARRAY, 0),
            cubes: view_of(&image(T::TYPE_2D, [16, 16, 1], 2, 12), V::CUBE_ARRAY, 0),
            volume: view_of(&image(T::TYPE_3D, [32, 16, 7], 3, 1), V::TYPE_3D, 0),
            lines: view_of(&image(T::TYPE_1D, [33, 1, 1], 1, 4), V::TYPE_1D_ARRAY, 0),
            texels: BufferView::new(Arc::new(buffer), vk::Format::R32_SINT, 0, 100 * 4).expect("a view"),
            storage: view_of(&image(T::TYPE_2D, [24, 9, 1], 1, 1), V::TYPE_2D, 0),
            block: [5, 6, 7, 8, 9],
        }
    }

    /// The shader's output with these push constants.
    fn run(&mut self, level: Level, lanes: u32, step: f32, index: u32) -> [u32; 27] {
        let mut out = [0xDEAD_BEEFu32; 27];
        let address = |v: &ImageView| std::ptr::from_ref(v) as u64;
        let mut table = vec![[0u64; 4]; COUNTS.iter().sum::<u32>() as usize];
        let slot = |b: u32| (offset(b) / DESCRIPTOR_BYTES) as usize;
        table[0] = [out.as_mut_ptr() as u64, size_of_val(&out) as u64, 0, 0];
        for (k, s) in self.samplers.iter().enumerate() {
            table[slot(1) + k] = [0, 0, address(&self.texture), std::ptr::from_ref(s) as u64];
        }
        let plain = std::ptr::from_ref(&self.samplers[0]) as u64;
        for (b, v) in [(2, &self.layers), (3, &self.cubes), (4, &self.volume), (8, &self.lines)] {
            table[slot(b)] = [0, 0, address(v), plain];
        }
        table[slot(5)] = [0, 0, crate::descriptor::texels(&self.texels), 0];
        for k in 0..2 {
            table[slot(6) + k] = [0, 0, address(&self.storage), 0];
            table[slot(7) + k] = [self.block.as_mut_ptr() as u64, size_of_val(&self.block) as u64, 0, 0];
        }
        let tables = [Table { ptr: table.as_ptr().cast(), size: size_of_val(&table[..]) as u64 }];
        let push: Vec<u8> = [step.to_bits(), index].iter().flat_map(|w| w.to_le_bytes()).collect();
        let program = program(lanes);
        let dispatch = Dispatch {
            serial: 1,
            program: &program,
            tables: &tables,
            push: &push,
            host: &Images,
            base: [0; 3],
            groups: [1; 3],
            arena: wave::Arena::NONE,
            draw: [0; 2],
        };
        Worker::new(level).run(&dispatch, 0, 1).expect("runs");
        out
    }
}

fn everywhere(f: impl Fn(Level, u32)) {
    for level in Level::tested() {
        for lanes in [64, 256] {
            f(level, lanes);
        }
    }
}

fn lod(out: &[u32; 27]) -> (f32, f32) {
    (f32::from_bits(out[0]), f32::from_bits(out[1]))
}

fn textured(base_level: u32) -> Scene {
    let t = image(vk::ImageType::TYPE_2D, [64, 32, 1], 6, 1);
    Scene::new(view_of(&t, vk::ImageViewType::TYPE_2D, base_level))
}

#[test]
fn lod_queries_tell_the_level_then_the_lod() {
    let near = |(a, b): (f32, f32), (x, y): (f32, f32)| {
        assert!((a - x).abs() < 1e-4 && (b - y).abs() < 1e-4, "({a}, {b}), not ({x}, {y})")
    };
    everywhere(|level, lanes| {
        // The longer side has 64 texels: λ′ = log2(64 · step).
        let query = |base: u32, step: f32, index: u32| lod(&textured(base).run(level, lanes, step, index));
        let third = (64.0f32 / 24.0).log2();
        near(query(0, 1.0 / 32.0, 0), (1.0, 1.0));
        near(query(0, 1.0 / 24.0, 0), (third, third));
        // To the nearest level, which the lod itself does not show.
        near(query(0, 1.0 / 24.0, 1), (1.0, third));
        near(query(0, 3.0 / 64.0, 1), (2.0, 3f32.log2()));
        // The bias counts, the sampler's range bounds only the level.
        near(query(0, 1.0 / 24.0, 2), (1.25, third + 0.5));
        near(query(0, 1.0 / 128.0, 2), (0.25, -0.5));
        // Nothing above the last level, nothing below the first.
        near(query(0, 64.0, 0), (5.0, 12.0));
        near(query(0, 1.0 / 256.0, 0), (0.0, -2.0));
        // From the view's first level on: 32 texels.
        near(query(1, 1.0 / 16.0, 0), (1.0, 1.0));
        near(query(1, 64.0, 1), (4.0, 11.0));
    });
}

#[test]
fn sizes_are_those_of_the_view() {
    everywhere(|level, lanes| {
        let out = textured(0).run(level, lanes, 0.0, 1);
        assert_eq!(out[2..7], [64, 32, 16, 8, 6]);
        assert_eq!(out[9..11], [24, 9]);
        assert_eq!(out[12..18], [20, 10, 5, 16, 16, 2]);
        assert_eq!(out[18..24], [16, 8, 3, 100, 33, 4]);
        assert_eq!(out[24..26], [5, 6]);
        // A level that is not there.
        assert_eq!(out[26], 0);
        let out = textured(2).run(level, lanes, 0.0, 0);
        assert_eq!(out[2..7], [16, 8, 4, 2, 4]);
    });
}

#[test]
fn descriptors_out_of_range_are_null() {
    everywhere(|level, lanes| {
        let mut scene = textured(0);
        // The whole output stays what in-range descriptors of other bindings give; those of the index give nothing.
        for index in [3, 4, 1000, u32::MAX] {
            let out = scene.run(level, lanes, 1.0 / 32.0, index);
            assert_eq!(out[..12], [0; 12], "index {index}");
            assert_eq!(out[24..27], [0; 3], "index {index}");
            assert_eq!(out[12..18], [20, 10, 5, 16, 16, 2]);
            assert_eq!(scene.block, [5, 6, 7, 8, 9]);
        }
        // In range of the textures, beyond the storage images and buffers.
        let out = scene.run(level, lanes, 1.0 / 32.0, 2);
        assert_eq!(out[2..4], [64, 32]);
        assert_eq!((&out[9..12], &out[24..26]), (&[0; 3][..], &[0; 2][..]));
        assert_eq!(scene.block, [5, 6, 7, 8, 9]);
        scene.run(level, lanes, 0.0, 1);
        assert_eq!(scene.block, [5, 77, 7, 8, 9]);
    });
}
