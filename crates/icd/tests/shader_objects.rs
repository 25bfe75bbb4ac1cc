//! VK_EXT_shader_object through the real loader: the picture that pipelines draw, drawn by shader objects; binaries and what
//! is none; flags; instrumented ones.

use crate::gpu::{Gpu, Mapped};
use crate::graphics::{Flat, SIZE, expected, expected_of, picture_with};
use crate::shifting::with_shifting;
use ash::ext::shader_object::Device as Objects;
use ash::vk;
use vk::ShaderStageFlags as Stages;

const VERT: &[u8] = include_bytes!("shaders/flat.vert.spv");
const FRAG: &[u8] = include_bytes!("shaders/flat.frag.spv");
const SAXPY: &[u8] = include_bytes!("../../../benches/kernels/saxpy.spv");
const N: usize = 256;
/// VK_SHADER_CREATE_INSTRUMENT_SHADER_BIT_ARM
const INSTRUMENT: vk::ShaderCreateFlagsEXT = vk::ShaderCreateFlagsEXT::from_raw(0x800);
/// VK_INCOMPATIBLE_SHADER_BINARY_EXT
const INCOMPATIBLE: vk::Result = vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT;

fn open() -> (Gpu, Objects) {
    let mut measured = ::vk::PhysicalDeviceShaderInstrumentationFeaturesARM {
        shader_instrumentation: 1,
        ..Default::default()
    };
    let mut features = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    features.p_next = (&raw mut measured).cast();
    let names = [c"VK_EXT_shader_object", c"VK_ARM_shader_instrumentation"];
    let g = Gpu::with(&names, &mut features);
    let o = Objects::new(&g.instance, &g.device);
    (g, o)
}

/// The creation of a stage of [`Flat`], or of the compute shader.
fn info<'a>(
    stage: Stages,
    code: &'a [u8],
    sets: &'a [vk::DescriptorSetLayout],
    push: &'a [vk::PushConstantRange],
) -> vk::ShaderCreateInfoEXT<'a> {
    let next = if stage == Stages::VERTEX { Stages::FRAGMENT } else { Stages::empty() };
    vk::ShaderCreateInfoEXT::default()
        .stage(stage)
        .next_stage(next)
        .code_type(vk::ShaderCodeTypeEXT::SPIRV)
        .code(code)
        .name(c"main")
        .set_layouts(sets)
        .push_constant_ranges(push)
}

const PUSH: [vk::PushConstantRange; 1] =
    [vk::PushConstantRange { stage_flags: Stages::FRAGMENT, offset: 0, size: 16 }];

/// Creates shaders, or gives what the call answered and the handles that it left.
fn create(o: &Objects, infos: &[vk::ShaderCreateInfoEXT]) -> Result<Vec<vk::ShaderEXT>, vk::Result> {
    let mut made = vec![vk::ShaderEXT::null(); infos.len()];
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    let answer = unsafe {
        (o.fp().create_shaders_ext)(
            o.device(),
            infos.len() as u32,
            infos.as_ptr(),
            std::ptr::null(),
            made.as_mut_ptr(),
        )
    };
    match answer {
        vk::Result::SUCCESS => Ok(made),
        e => {
            made.iter().for_each(|&s| unsafe { o.destroy_shader(s, None) });
            Err(e)
        }
    }
}

fn flat(o: &Objects, f: &Flat, flags: vk::ShaderCreateFlagsEXT) -> Vec<vk::ShaderEXT> {
    let sets = [f.set];
    let of = |stage, code| info(stage, code, &sets, &PUSH).flags(flags);
    create(o, &[of(Stages::VERTEX, VERT), of(Stages::FRAGMENT, FRAG)]).expect("shaders are created")
}

const GRAPHICS: [Stages; 5] = [
    Stages::VERTEX,
    Stages::TESSELLATION_CONTROL,
    Stages::TESSELLATION_EVALUATION,
    Stages::GEOMETRY,
    Stages::FRAGMENT,
];

/// Binds a vertex and a fragment shader, and nothing else to the other stages.
fn bind(o: &Objects, c: vk::CommandBuffer, vert: vk::ShaderEXT, frag: vk::ShaderEXT) {
    let none = vk::ShaderEXT::null();
    unsafe { o.cmd_bind_shaders(c, &GRAPHICS, &[vert, none, none, none, frag]) };
}

/// All state that a draw of the quad needs (§ Setting State).
fn set_state(o: &Objects, c: vk::CommandBuffer) {
    let extent = vk::Extent2D { width: SIZE, height: SIZE };
    let all = vk::Viewport { width: SIZE as f32, height: SIZE as f32, max_depth: 1.0, ..Default::default() };
    let lower = vk::Rect2D { offset: vk::Offset2D { x: 0, y: 2 }, extent };
    let binding = [vk::VertexInputBindingDescription2EXT::default().binding(0).stride(24).divisor(1)];
    let attribute = |location, format, offset| {
        vk::VertexInputAttributeDescription2EXT::default().location(location).format(format).offset(offset)
    };
    let attributes =
        [attribute(0, vk::Format::R32G32_SFLOAT, 0), attribute(1, vk::Format::R32G32B32A32_SFLOAT, 8)];
    unsafe {
        o.cmd_set_viewport_with_count(c, &[all]);
        o.cmd_set_scissor_with_count(c, &[lower]);
        o.cmd_set_vertex_input(c, &binding, &attributes);
        o.cmd_set_primitive_topology(c, vk::PrimitiveTopology::TRIANGLE_STRIP);
        o.cmd_set_primitive_restart_enable(c, false);
        o.cmd_set_rasterizer_discard_enable(c, false);
        o.cmd_set_rasterization_samples(c, vk::SampleCountFlags::TYPE_1);
        o.cmd_set_sample_mask(c, vk::SampleCountFlags::TYPE_1, &[u32::MAX]);
        o.cmd_set_alpha_to_coverage_enable(c, false);
        o.cmd_set_polygon_mode(c, vk::PolygonMode::FILL);
        o.cmd_set_cull_mode(c, vk::CullModeFlags::NONE);
        o.cmd_set_front_face(c, vk::FrontFace::COUNTER_CLOCKWISE);
        // There is no depth attachment to test against, or to fail at.
        o.cmd_set_depth_test_enable(c, true);
        o.cmd_set_depth_write_enable(c, true);
        o.cmd_set_depth_compare_op(c, vk::CompareOp::NEVER);
        o.cmd_set_depth_bounds_test_enable(c, false);
        o.cmd_set_depth_bias_enable(c, false);
        o.cmd_set_stencil_test_enable(c, false);
        o.cmd_set_color_blend_enable(c, 0, &[vk::FALSE]);
        o.cmd_set_color_write_mask(c, 0, &[vk::ColorComponentFlags::RGBA]);
    }
}

fn destroy(o: &Objects, shaders: &[vk::ShaderEXT]) {
    shaders.iter().for_each(|&s| unsafe { o.destroy_shader(s, None) });
}

fn binary(o: &Objects, s: vk::ShaderEXT) -> Vec<u8> {
    unsafe { o.get_shader_binary_data(s) }.expect("a binary is given")
}

#[test]
fn shader_objects_draw_what_a_pipeline_draws_linked_or_not_and_from_binaries() {
    let (g, o) = open();
    let f = Flat::new(&g);
    for flags in [vk::ShaderCreateFlagsEXT::empty(), vk::ShaderCreateFlagsEXT::LINK_STAGE] {
        let made = flat(&o, &f, flags);
        let draw = |s: &[vk::ShaderEXT]| {
            picture_with(&g, &f, |_, c| {
                set_state(&o, c);
                bind(&o, c, s[0], s[1]);
            })
        };
        assert_eq!(draw(&made), expected());
        let blobs = [binary(&o, made[0]), binary(&o, made[1])];
        assert_eq!(blobs[1], binary(&o, made[1]), "the same for its lifetime");
        destroy(&o, &made);
        let sets = [f.set];
        let of = |stage, code| {
            info(stage, code, &sets, &PUSH).flags(flags).code_type(vk::ShaderCodeTypeEXT::BINARY)
        };
        let again = create(&o, &[of(Stages::VERTEX, &blobs[0]), of(Stages::FRAGMENT, &blobs[1])])
            .expect("binaries are shaders");
        assert_eq!(draw(&again), expected());
        assert_eq!(binary(&o, again[0]), blobs[0]);
        destroy(&o, &again);
    }
    f.free(&g);
}

#[test]
fn all_state_is_dynamic() {
    let (g, o) = open();
    let f = Flat::new(&g);
    let made = flat(&o, &f, Default::default());
    // Green and alpha keep what was cleared, red and blue are subtracted from it: 0 - 102 and 255 - 51.
    let drawn = picture_with(&g, &f, |_, c| unsafe {
        bind(&o, c, made[0], made[1]);
        set_state(&o, c);
        o.cmd_set_color_write_mask(c, 0, &[vk::ColorComponentFlags::R | vk::ColorComponentFlags::B]);
        o.cmd_set_color_blend_enable(c, 0, &[vk::TRUE]);
        let less = vk::ColorBlendEquationEXT {
            src_color_blend_factor: vk::BlendFactor::ONE,
            dst_color_blend_factor: vk::BlendFactor::ONE,
            color_blend_op: vk::BlendOp::REVERSE_SUBTRACT,
            ..Default::default()
        };
        o.cmd_set_color_blend_equation(c, 0, &[less]);
    });
    assert_eq!(drawn, expected_of([0, 0, 255 - 51, 255]));
    // Both sides are culled.
    let culled = picture_with(&g, &f, |_, c| unsafe {
        bind(&o, c, made[0], made[1]);
        set_state(&o, c);
        o.cmd_set_cull_mode(c, vk::CullModeFlags::FRONT_AND_BACK);
    });
    assert_eq!(culled, expected_of([0, 0, 255, 255]));
    destroy(&o, &made);
    f.free(&g);
}

#[test]
fn pipelines_and_shader_objects_take_each_others_place() {
    let (g, o) = open();
    let f = Flat::new(&g);
    let made = flat(&o, &f, Default::default());
    let (pipeline, none) = (f.whole(&g), vk::ShaderEXT::null());
    let point = vk::PipelineBindPoint::GRAPHICS;
    let nothing = expected_of([0, 0, 255, 255]);
    let with_pipeline = picture_with(&g, &f, |d, c| unsafe {
        set_state(&o, c);
        bind(&o, c, made[0], made[1]);
        d.cmd_bind_pipeline(c, point, pipeline);
    });
    assert_eq!(with_pipeline, expected());
    let with_objects = picture_with(&g, &f, |d, c| unsafe {
        d.cmd_bind_pipeline(c, point, pipeline);
        set_state(&o, c);
        bind(&o, c, made[0], made[1]);
    });
    assert_eq!(with_objects, expected());
    // A pipeline unbinds all shaders, so one fragment shader is not enough to draw; nor is a vertex shader that is unbound.
    let half = picture_with(&g, &f, |d, c| unsafe {
        set_state(&o, c);
        bind(&o, c, made[0], made[1]);
        d.cmd_bind_pipeline(c, point, pipeline);
        o.cmd_bind_shaders(c, &[Stages::FRAGMENT], &made[1..]);
    });
    assert_eq!(half, nothing);
    let unbound = picture_with(&g, &f, |_, c| unsafe {
        set_state(&o, c);
        bind(&o, c, made[0], made[1]);
        (o.fp().cmd_bind_shaders_ext)(c, 1, &Stages::VERTEX, std::ptr::null());
    });
    assert_eq!(unbound, nothing);
    // Without a fragment shader no colour is written; a vertex shader for the fragment stage is none.
    for frag in [none, made[0]] {
        let drawn = picture_with(&g, &f, |_, c| {
            set_state(&o, c);
            bind(&o, c, made[0], frag);
        });
        assert_eq!(drawn, nothing);
    }
    // Shaders that are destroyed after recording are drawn with all the same.
    let mut second = flat(&o, &f, Default::default());
    let late = picture_with(&g, &f, |_, c| {
        set_state(&o, c);
        bind(&o, c, second[0], second[1]);
        destroy(&o, &std::mem::take(&mut second));
    });
    assert_eq!(late, expected());
    unsafe { g.device.destroy_pipeline(pipeline, None) };
    destroy(&o, &made);
    f.free(&g);
}

#[test]
fn a_binary_that_changes_meanwhile_is_what_was_signed_or_incompatible() {
    let (g, o) = open();
    let f = Flat::new(&g);
    let made = flat(&o, &f, Default::default());
    let blob = binary(&o, made[1]);
    // Nobody has the program any more: what is read is not shared with it.
    destroy(&o, &made);
    let sets = [f.set];
    with_shifting(&blob, 64, |bytes| {
        let info = vk::ShaderCreateInfoEXT {
            code_size: blob.len(),
            p_code: bytes.cast(),
            ..info(Stages::FRAGMENT, &[], &sets, &PUSH).code_type(vk::ShaderCodeTypeEXT::BINARY)
        };
        match create(&o, &[info]) {
            Ok(read) => {
                assert!(binary(&o, read[0]) == blob, "a forged program was taken");
                destroy(&o, &read);
                true
            }
            Err(e) => {
                assert_eq!(e, INCOMPATIBLE);
                false
            }
        }
    });
    f.free(&g);
}

#[test]
fn what_is_no_binary_of_this_shader_is_incompatible() {
    let (g, o) = open();
    let f = Flat::new(&g);
    let made = flat(&o, &f, Default::default());
    let blob = binary(&o, made[1]);
    let sets = [f.set];
    let read = |stage, code: &[u8], sets: &[vk::DescriptorSetLayout]| {
        create(&o, &[info(stage, code, sets, &PUSH).code_type(vk::ShaderCodeTypeEXT::BINARY)])
    };
    let good = read(Stages::FRAGMENT, &blob, &sets).expect("it is whole");
    destroy(&o, &good);
    assert_eq!(read(Stages::VERTEX, &blob, &sets), Err(INCOMPATIBLE), "another stage");
    assert_eq!(read(Stages::FRAGMENT, &blob, &[]), Err(INCOMPATIBLE), "another layout");
    assert_eq!(read(Stages::FRAGMENT, FRAG, &sets), Err(INCOMPATIBLE), "SPIR-V");
    assert_eq!(read(Stages::FRAGMENT, &[&blob[..], &[0]].concat(), &sets), Err(INCOMPATIBLE));
    for n in 0..blob.len() {
        assert_eq!(read(Stages::FRAGMENT, &blob[..n], &sets), Err(INCOMPATIBLE), "{n} bytes");
    }
    for at in (0..blob.len()).step_by(3) {
        let mut bad = blob.clone();
        bad[at] ^= 1 << (at % 8);
        assert_eq!(read(Stages::FRAGMENT, &bad, &sets), Err(INCOMPATIBLE), "byte {at}");
    }
    // Too little room: nothing is written.
    let mut room = vec![0xa5u8; blob.len()];
    let mut size = blob.len() - 1;
    let get = o.fp().get_shader_binary_data_ext;
    let answer = unsafe { get(o.device(), made[1], &mut size, room.as_mut_ptr().cast()) };
    assert_eq!((answer, size), (vk::Result::INCOMPLETE, 0));
    assert!(room.iter().all(|b| *b == 0xa5));
    let mut of = vk::PhysicalDeviceShaderObjectPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut of);
    let physical = crate::common::physical_device(&g.instance);
    unsafe { g.instance.get_physical_device_properties2(physical, &mut all) };
    let cache = all.properties.pipeline_cache_uuid;
    assert_eq!((of.shader_binary_uuid, of.shader_binary_version), (cache, 1));
    destroy(&o, &made);
    f.free(&g);
}

#[test]
fn creations_that_cannot_be_are_refused() {
    use vk::ShaderCreateFlagsEXT as Flags;
    let (g, o) = open();
    let f = Flat::new(&g);
    let sets = [f.set];
    let frag = || info(Stages::FRAGMENT, FRAG, &sets, &PUSH);
    let invalid = Err(vk::Result::ERROR_VALIDATION_FAILED_EXT);
    // No such feature: 64-bit indices; no such flag.
    for bit in [1 << 15, 1 << 30] {
        assert_eq!(create(&o, &[frag().flags(Flags::from_raw(bit))]), invalid, "{bit:#x}");
    }
    // Not for this stage.
    for flags in [Flags::DISPATCH_BASE, Flags::REQUIRE_FULL_SUBGROUPS, Flags::NO_TASK_SHADER] {
        assert_eq!(create(&o, &[frag().flags(flags)]), invalid, "{flags:?}");
    }
    for (size, fits) in [(16, true), (32, false)] {
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
            required_subgroup_size: size,
            ..Default::default()
        };
        let mut with = frag();
        with.p_next = (&raw mut size).cast();
        let made = create(&o, &[with]);
        assert_eq!(made.is_ok(), fits);
        destroy(&o, &made.unwrap_or_default());
    }
    // An entry point, a stage and words that there are not.
    let failed = Err(vk::Result::ERROR_INITIALIZATION_FAILED);
    assert_eq!(create(&o, &[frag().name(c"other")]), failed);
    assert_eq!(create(&o, &[frag().stage(Stages::GEOMETRY)]), failed);
    assert_eq!(create(&o, &[frag().code(&FRAG[..FRAG.len() / 2])]), failed);
    assert_eq!(create(&o, &[frag().code(&[])]), failed);
    assert_eq!(create(&o, &[frag().stage(Stages::RAYGEN_KHR)]), invalid);
    // The first null handle is the one that failed.
    let infos = [frag(), frag().name(c"other"), frag()];
    let mut made = [vk::ShaderEXT::null(); 3];
    let answer = unsafe {
        (o.fp().create_shaders_ext)(o.device(), 3, infos.as_ptr(), std::ptr::null(), made.as_mut_ptr())
    };
    assert_eq!(answer, vk::Result::ERROR_INITIALIZATION_FAILED);
    assert_eq!(made.iter().position(|s| *s == vk::ShaderEXT::null()), Some(1));
    destroy(&o, &made);
    f.free(&g);
}

/// y = 0.5 x + 0.25 y on 256 floats by a compute shader object: buffers, set, layouts.
struct Saxpy {
    y: Mapped,
    x: Mapped,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl Saxpy {
    fn new(g: &Gpu) -> Saxpy {
        let (y, x) = (g.buffer(N), g.buffer(N));
        for i in 0..N {
            y.words[i] = (i as f32).to_bits();
            x.words[i] = (2.0 * i as f32).to_bits();
        }
        let ty = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [0, 1].map(|n| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(Stages::COMPUTE)
        });
        unsafe {
            let d = &g.device;
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: 2 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = d.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
            let set = d.allocate_descriptor_sets(&info).unwrap()[0];
            let infos = [y.buffer, x.buffer].map(|buffer| vk::DescriptorBufferInfo {
                buffer,
                offset: 0,
                range: vk::WHOLE_SIZE,
            });
            let w = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).buffer_info(&infos);
            d.update_descriptor_sets(&[w], &[]);
            Saxpy { y, x, set_layout, layout, pool, set }
        }
    }

    fn shader(&self, o: &Objects, flags: vk::ShaderCreateFlagsEXT) -> vk::ShaderEXT {
        create(o, &[info(Stages::COMPUTE, SAXPY, &[self.set_layout], &[]).flags(flags)]).expect("it is made")
            [0]
    }

    fn dispatch(&self, d: &ash::Device, o: &Objects, c: vk::CommandBuffer, shader: vk::ShaderEXT) {
        unsafe {
            o.cmd_bind_shaders(c, &[Stages::COMPUTE], &[shader]);
            let point = vk::PipelineBindPoint::COMPUTE;
            d.cmd_bind_descriptor_sets(c, point, self.layout, 0, &[self.set], &[]);
            d.cmd_dispatch(c, 1, 1, 1);
        }
    }

    fn free(self, g: &Gpu) {
        unsafe {
            g.device.destroy_descriptor_pool(self.pool, None);
            g.device.destroy_pipeline_layout(self.layout, None);
            g.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
        g.free(self.y);
        g.free(self.x);
    }
}

#[test]
fn compute_shaders_are_dispatched_until_they_are_unbound() {
    let (g, o) = open();
    let s = Saxpy::new(&g);
    use vk::ShaderCreateFlagsEXT as Flags;
    let shader = s.shader(&o, Flags::REQUIRE_FULL_SUBGROUPS | Flags::DISPATCH_BASE);
    g.run(|d, c| {
        s.dispatch(d, &o, c, shader);
        unsafe {
            o.cmd_bind_shaders(c, &[Stages::COMPUTE], &[vk::ShaderEXT::null()]);
            d.cmd_dispatch(c, 1, 1, 1); // nothing is bound
        }
    });
    let y: Vec<f32> = s.y.words.iter().map(|w| f32::from_bits(*w)).collect();
    assert_eq!(y, (0..N).map(|i| 1.25 * i as f32).collect::<Vec<_>>());
    destroy(&o, &[shader]);
    s.free(&g);
}

pub type Begin = unsafe extern "system" fn(vk::CommandBuffer, ::vk::ShaderInstrumentationARM);
pub type End = unsafe extern "system" fn(vk::CommandBuffer);
pub type Make = unsafe extern "system" fn(
    vk::Device,
    *const ::vk::ShaderInstrumentationCreateInfoARM<'_>,
    *const vk::AllocationCallbacks<'_>,
    *mut ::vk::ShaderInstrumentationARM,
) -> vk::Result;
pub type Unmake =
    unsafe extern "system" fn(vk::Device, ::vk::ShaderInstrumentationARM, *const vk::AllocationCallbacks<'_>);
pub type Values = unsafe extern "system" fn(
    vk::Device,
    ::vk::ShaderInstrumentationARM,
    *mut u32,
    *mut std::ffi::c_void,
    ::vk::ShaderInstrumentationValuesFlagsARM,
) -> vk::Result;

/// Saxpy is one block, of 256 threads: 16 warps of 16. So is what a binary of the instrumented shader makes.
#[test]
fn instrumented_shader_objects_are_measured() {
    /// Words of a row: result, sub-index, stages, block, then 64-bit metrics, of which the first are warps and threads.
    const ROW: usize = 4 + 2 * 11;
    let (g, o) = open();
    let s = Saxpy::new(&g);
    let plain = s.shader(&o, Default::default());
    let marked = s.shader(&o, INSTRUMENT);
    let blob = binary(&o, marked);
    let sets = [s.set_layout];
    let from = info(Stages::COMPUTE, &blob, &sets, &[]).code_type(vk::ShaderCodeTypeEXT::BINARY);
    let again = create(&o, &[from.flags(INSTRUMENT)]).expect("its binary is a shader")[0];
    unsafe {
        macro_rules! command {
            ($name:literal as $ty:ty) => {{
                let found = g.instance.get_device_proc_addr(g.device.handle(), $name.as_ptr());
                std::mem::transmute::<unsafe extern "system" fn(), $ty>(found.expect("it is there"))
            }};
        }
        let make = command!(c"vkCreateShaderInstrumentationARM" as Make);
        let unmake = command!(c"vkDestroyShaderInstrumentationARM" as Unmake);
        let begin = command!(c"vkCmdBeginShaderInstrumentationARM" as Begin);
        let end = command!(c"vkCmdEndShaderInstrumentationARM" as End);
        let values = command!(c"vkGetShaderInstrumentationValuesARM" as Values);
        let mut object = ::vk::ShaderInstrumentationARM::default();
        assert_eq!(
            make(g.device.handle(), &Default::default(), std::ptr::null(), &mut object),
            vk::Result::SUCCESS
        );
        g.run(|d, c| {
            begin(c, object);
            for shader in [plain, marked, again] {
                s.dispatch(d, &o, c, shader);
            }
            end(c);
        });
        let mut rows = 16;
        let mut data = vec![0u32; rows as usize * ROW];
        let to = data.as_mut_ptr().cast();
        assert_eq!(values(g.device.handle(), object, &mut rows, to, Default::default()), vk::Result::SUCCESS);
        let compute = Stages::COMPUTE.as_raw();
        let told: Vec<&[u32]> = data.chunks(ROW).take(rows as usize).map(|r| &r[..8]).collect();
        // Each dispatch takes an index, instrumented or not.
        assert_eq!(told, [1, 2].map(|result| [result, 0, compute, 0, 16, 0, 256, 0]));
        unmake(g.device.handle(), object, std::ptr::null());
    }
    destroy(&o, &[plain, marked, again]);
    s.free(&g);
}
