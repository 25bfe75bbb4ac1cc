//! Compute pipelines through the real loader: y = 0.5 x + 0.25 y on 256 floats a workgroup.

use crate::gpu::{Gpu, Mapped};
use crate::shifting::with_shifting;
use ash::vk;

const SPIRV: &[u8] = include_bytes!("../../../benches/kernels/saxpy.spv");
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const N: usize = 256;

/// The shader with a layout of one set of two buffers of type `ty`.
struct Saxpy {
    module: vk::ShaderModule,
    set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
}

impl Saxpy {
    fn new(g: &Gpu, ty: vk::DescriptorType) -> Saxpy {
        let words = shader::words(SPIRV);
        let bindings = [0, 1].map(|n| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe {
            let d = &g.device;
            let module =
                d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None).unwrap();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            Saxpy { module, set, layout: d.create_pipeline_layout(&info, None).unwrap() }
        }
    }

    fn pipeline(
        &self,
        g: &Gpu,
        cache: vk::PipelineCache,
        flags: vk::PipelineCreateFlags,
    ) -> Result<(vk::Pipeline, bool), vk::Result> {
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(c"main");
        let mut told = vk::PipelineCreationFeedback::default();
        let mut feedback =
            vk::PipelineCreationFeedbackCreateInfo::default().pipeline_creation_feedback(&mut told);
        let info = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout)
            .flags(flags)
            .push_next(&mut feedback)];
        let made = unsafe { g.device.create_compute_pipelines(cache, &info, None) };
        let hit = told.flags.contains(vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT);
        match made {
            Ok(p) => Ok((p[0], hit)),
            Err((p, e)) => {
                assert_eq!(p, [vk::Pipeline::null()]);
                Err(e)
            }
        }
    }

    /// A set with these ranges of buffers.
    fn set(
        &self,
        g: &Gpu,
        ty: vk::DescriptorType,
        y: vk::Buffer,
        x: vk::Buffer,
    ) -> (vk::DescriptorPool, vk::DescriptorSet) {
        let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: 2 }];
        unsafe {
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = g.device.create_descriptor_pool(&info, None).unwrap();
            let layouts = [self.set];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = g.device.allocate_descriptor_sets(&info).unwrap()[0];
            let infos =
                [y, x].map(|buffer| vk::DescriptorBufferInfo { buffer, offset: 0, range: N as u64 * 4 });
            // One write runs over into binding 1.
            let w = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).buffer_info(&infos);
            g.device.update_descriptor_sets(&[w], &[]);
            (pool, set)
        }
    }

    fn free(self, g: &Gpu) {
        unsafe {
            g.device.destroy_pipeline_layout(self.layout, None);
            g.device.destroy_descriptor_set_layout(self.set, None);
            g.device.destroy_shader_module(self.module, None);
        }
    }
}

fn fill(m: &mut Mapped, f: impl Fn(usize) -> f32) {
    for (i, w) in m.words.iter_mut().enumerate() {
        *w = f(i).to_bits();
    }
}

fn floats(m: &Mapped) -> Vec<f32> {
    m.words.iter().map(|w| f32::from_bits(*w)).collect()
}

#[test]
fn a_dispatch_reads_and_writes_its_buffers_even_through_destroyed_handles() {
    let g = Gpu::new();
    let (mut y, mut x) = (g.buffer(N), g.buffer(N));
    fill(&mut y, |i| i as f32);
    fill(&mut x, |i| 2.0 * i as f32);
    let s = Saxpy::new(&g, vk::DescriptorType::STORAGE_BUFFER);
    let (p, _) = s.pipeline(&g, vk::PipelineCache::null(), Default::default()).unwrap();
    let (pool, set) = s.set(&g, vk::DescriptorType::STORAGE_BUFFER, y.buffer, x.buffer);
    let c = g.record(|d, c| unsafe {
        d.cmd_bind_pipeline(c, COMPUTE, p);
        d.cmd_bind_descriptor_sets(c, COMPUTE, s.layout, 0, &[set], &[]);
        d.cmd_dispatch(c, 1, 1, 1);
    });
    // Destroying these before the submission is the application's mistake, but no crash.
    unsafe {
        g.device.destroy_pipeline(p, None);
        g.device.destroy_descriptor_pool(pool, None);
    }
    g.submit(c, vk::Fence::null());
    unsafe { g.device.queue_wait_idle(g.queue) }.unwrap();
    assert_eq!(floats(&y), (0..N).map(|i| 1.25 * i as f32).collect::<Vec<_>>());
    s.free(&g);
    g.free(y);
    g.free(x);
}

/// Nothing in VkDescriptorUpdateTemplateEntry's valid usage aligns an offset, a stride or the data.
#[test]
fn templates_read_from_any_offset() {
    let g = Gpu::new();
    let (mut y, mut x) = (g.buffer(N), g.buffer(N));
    let ty = vk::DescriptorType::STORAGE_BUFFER;
    let s = Saxpy::new(&g, ty);
    let (p, _) = s.pipeline(&g, vk::PipelineCache::null(), Default::default()).unwrap();
    let (pool, set) = s.set(&g, ty, x.buffer, y.buffer);
    let infos = [y.buffer, x.buffer].map(|buffer| vk::DescriptorBufferInfo {
        buffer,
        offset: 0,
        range: vk::WHOLE_SIZE,
    });
    const BYTES: usize = size_of::<vk::DescriptorBufferInfo>();
    for (offset, stride) in [(0, BYTES), (1, BYTES), (7, BYTES + 1), (4, BYTES + 13)] {
        fill(&mut y, |i| i as f32);
        fill(&mut x, |i| 2.0 * i as f32);
        let mut data = vec![0u8; offset + 2 * stride];
        for (i, info) in infos.iter().enumerate() {
            let to = data[offset + i * stride..].as_mut_ptr();
            // SAFETY: the structure fits in what is left of the data.
            unsafe { to.cast::<vk::DescriptorBufferInfo>().write_unaligned(*info) };
        }
        let entries = [vk::DescriptorUpdateTemplateEntry {
            dst_binding: 0,
            dst_array_element: 0,
            // It runs over into binding 1.
            descriptor_count: 2,
            descriptor_type: ty,
            offset,
            stride,
        }];
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(s.set);
        unsafe {
            let t = g.device.create_descriptor_update_template(&info, None).unwrap();
            g.device.update_descriptor_set_with_template(set, t, data.as_ptr().cast());
            g.device.destroy_descriptor_update_template(t, None);
        }
        g.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, COMPUTE, p);
            d.cmd_bind_descriptor_sets(c, COMPUTE, s.layout, 0, &[set], &[]);
            d.cmd_dispatch(c, 1, 1, 1);
        });
        assert_eq!(floats(&y), (0..N).map(|i| 1.25 * i as f32).collect::<Vec<_>>(), "{offset} {stride}");
    }
    unsafe {
        g.device.destroy_pipeline(p, None);
        g.device.destroy_descriptor_pool(pool, None);
    }
    s.free(&g);
    g.free(y);
    g.free(x);
}

/// What the application's thread has made of its floats (rounding, denormals, signals) is nothing to a shader.
#[cfg(target_arch = "x86_64")]
#[test]
fn an_applications_rounding_is_its_own() {
    let swap = |mode: u32| {
        let mut before = 0u32;
        // SAFETY: four bytes are written and read; nothing is computed with floats but by the driver until the mode is as it was.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack, preserves_flags));
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags));
        }
        before
    };
    // Towards zero, denormals zeros, a signal for divisions by zero and for what is no number; and a process's own.
    let [odd, plain] = [0x6000 | 0x8040 | 0x1D00, 0x1F80].map(|mode| {
        let before = swap(mode);
        let g = Gpu::new();
        let (mut y, mut x) = (g.buffer(N), g.buffer(N));
        let s = Saxpy::new(&g, vk::DescriptorType::STORAGE_BUFFER);
        let (p, _) = s.pipeline(&g, vk::PipelineCache::null(), Default::default()).unwrap();
        let (pool, set) = s.set(&g, vk::DescriptorType::STORAGE_BUFFER, y.buffer, x.buffer);
        let ours = swap(before);
        assert_eq!(ours & !0x3F, mode, "what a call of the driver left");
        fill(&mut y, |i| 1.0 / (3.0 + i as f32));
        fill(&mut x, |i| 1.0 / (7.0 + i as f32));
        g.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, COMPUTE, p);
            d.cmd_bind_descriptor_sets(c, COMPUTE, s.layout, 0, &[set], &[]);
            d.cmd_dispatch(c, 1, 1, 1);
        });
        let got: Vec<u32> = y.words.to_vec();
        unsafe {
            g.device.destroy_pipeline(p, None);
            g.device.destroy_descriptor_pool(pool, None);
        }
        s.free(&g);
        g.free(y);
        g.free(x);
        got
    });
    assert_eq!(odd, plain);
}

#[test]
fn dynamic_offsets_are_added_at_each_dispatch() {
    let g = Gpu::new();
    let (mut y, mut x) = (g.buffer(4 * N), g.buffer(4 * N));
    fill(&mut y, |i| i as f32);
    fill(&mut x, |_| 8.0);
    let ty = vk::DescriptorType::STORAGE_BUFFER_DYNAMIC;
    let s = Saxpy::new(&g, ty);
    let (p, _) = s.pipeline(&g, vk::PipelineCache::null(), Default::default()).unwrap();
    let (pool, set) = s.set(&g, ty, y.buffer, x.buffer);
    // Group counts for the indirect one, in the buffer that it then changes.
    let groups = g.buffer(8);
    groups.words[4..7].fill(1);
    g.run(|d, c| unsafe {
        let at = |n: usize| (n * N * 4) as u32;
        d.cmd_bind_pipeline(c, COMPUTE, p);
        d.cmd_bind_descriptor_sets(c, COMPUTE, s.layout, 0, &[set], &[at(1), at(0)]);
        d.cmd_dispatch(c, 1, 1, 1);
        d.cmd_bind_descriptor_sets(c, COMPUTE, s.layout, 0, &[set], &[at(3), at(2)]);
        d.cmd_dispatch_indirect(c, groups.buffer, 16);
        d.cmd_dispatch(c, 0, 1, 1);
    });
    let want: Vec<f32> =
        (0..4 * N).map(|i| if (i / N) % 2 == 1 { 4.0 + 0.25 * i as f32 } else { i as f32 }).collect();
    assert_eq!(floats(&y), want);
    unsafe {
        g.device.destroy_pipeline(p, None);
        g.device.destroy_descriptor_pool(pool, None);
    }
    s.free(&g);
    for m in [y, x, groups] {
        g.free(m);
    }
}

#[test]
fn a_caches_blob_saves_compilation() {
    let g = Gpu::new();
    let s = Saxpy::new(&g, vk::DescriptorType::STORAGE_BUFFER);
    let must = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    unsafe {
        let d = &g.device;
        // Other tests of this process may hold the very program: specialise the layout by a hole of a set.
        let empty = d.create_descriptor_set_layout(&Default::default(), None).unwrap();
        let sets = [s.set, empty];
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 44 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let s = Saxpy { layout, ..s };

        let cache = d.create_pipeline_cache(&Default::default(), None).unwrap();
        assert_eq!(s.pipeline(&g, cache, must), Err(vk::Result::PIPELINE_COMPILE_REQUIRED));
        let (p, hit) = s.pipeline(&g, cache, Default::default()).unwrap();
        assert!(!hit);
        let (q, hit) = s.pipeline(&g, cache, must).unwrap();
        assert!(hit);
        let blob = d.get_pipeline_cache_data(cache).unwrap();
        d.destroy_pipeline(p, None);
        d.destroy_pipeline(q, None);
        d.destroy_pipeline_cache(cache, None);

        // Of another build, vendor, device or version.
        let physical = g.instance.enumerate_physical_devices().unwrap()[0];
        let properties = g.instance.get_physical_device_properties(physical);
        assert_eq!(blob[16..32], properties.pipeline_cache_uuid);
        let foreign = [4, 8, 12, 16, 31].map(|at| {
            let mut b = blob.clone();
            b[at] ^= 1;
            b
        });
        // Nobody has the program any more; a damaged or foreign blob does not bring it back, the blob does.
        let mut bad = blob.clone();
        *bad.last_mut().unwrap() ^= 1;
        // Nobody signs anew without the user's key.
        let forged = [[0; 16], [0xA5; 16]].map(|signature| {
            let mut b = bad.clone();
            b[32..48].copy_from_slice(&signature);
            b
        });
        let others = foreign.iter().chain([&bad]).chain(&forged).map(|b| (b, false));
        for (data, there) in others.chain([(&blob, true)]) {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
            let cache = d.create_pipeline_cache(&info, None).unwrap();
            match s.pipeline(&g, cache, must) {
                Ok((p, hit)) => {
                    assert!(there && hit);
                    d.destroy_pipeline(p, None);
                }
                Err(e) => assert_eq!((there, e), (false, vk::Result::PIPELINE_COMPILE_REQUIRED)),
            }
            // What could not be read is left out of what is written, and the header is this build's again.
            let again = d.get_pipeline_cache_data(cache).unwrap();
            assert_eq!(again[..32], blob[..32], "the header");
            assert_eq!(again == blob, there, "the same blob again");
            d.destroy_pipeline_cache(cache, None);
        }
        d.destroy_descriptor_set_layout(empty, None);
        s.free(&g);
    }
}

/// What is taken of a blob is what was signed, and that alone is written again.
#[test]
fn a_cache_of_bytes_that_change_meanwhile_has_no_other_programs() {
    let g = Gpu::new();
    let s = Saxpy::new(&g, vk::DescriptorType::STORAGE_BUFFER);
    unsafe {
        let d = &g.device;
        let cache = d.create_pipeline_cache(&Default::default(), None).unwrap();
        let (p, _) = s.pipeline(&g, cache, Default::default()).unwrap();
        d.destroy_pipeline(p, None);
        let blob = d.get_pipeline_cache_data(cache).unwrap();
        d.destroy_pipeline_cache(cache, None);
        let empty = blob.len().min(48);
        with_shifting(&blob, empty, |bytes| {
            let info = vk::PipelineCacheCreateInfo {
                initial_data_size: blob.len(),
                p_initial_data: bytes.cast(),
                ..Default::default()
            };
            let cache = d.create_pipeline_cache(&info, None).unwrap();
            let again = d.get_pipeline_cache_data(cache).unwrap();
            d.destroy_pipeline_cache(cache, None);
            assert!(again == blob || again.len() == empty, "a forged program was signed");
            again == blob
        });
        s.free(&g);
    }
}

#[test]
fn bad_code_is_an_error() {
    let g = Gpu::new();
    let words: Vec<u32> = SPIRV.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    for cut in [0, 3, 5, words.len() / 2, words.len() - 1] {
        let mut code = words[..cut].to_vec();
        let info = vk::ShaderModuleCreateInfo {
            p_code: code.as_mut_ptr(),
            code_size: cut * 4,
            ..Default::default()
        };
        unsafe {
            let made = g.device.create_shader_module(&info, None);
            // What is cut between functions may parse; then the pipeline says what is missing.
            if let Ok(module) = made {
                let mut s = Saxpy::new(&g, vk::DescriptorType::STORAGE_BUFFER);
                let whole = std::mem::replace(&mut s.module, module);
                assert!(
                    s.pipeline(&g, vk::PipelineCache::null(), Default::default()).is_err(),
                    "{cut} words"
                );
                g.device.destroy_shader_module(whole, None);
                s.free(&g);
            }
        }
    }
}

/// VK_KHR_pipeline_binary: what a pipeline was compiled to, as bytes, makes it again without SPIR-V.
#[test]
fn a_pipelines_binary_saves_compilation() {
    use ::vk as new;
    type Create = unsafe extern "system" fn(
        vk::Device,
        *const new::PipelineBinaryCreateInfoKHR,
        *const vk::AllocationCallbacks,
        *mut new::PipelineBinaryHandlesInfoKHR,
    ) -> vk::Result;
    type Data = unsafe extern "system" fn(
        vk::Device,
        *const new::PipelineBinaryDataInfoKHR,
        *mut new::PipelineBinaryKeyKHR,
        *mut usize,
        *mut std::ffi::c_void,
    ) -> vk::Result;
    type Destroy =
        unsafe extern "system" fn(vk::Device, new::PipelineBinaryKHR, *const vk::AllocationCallbacks);
    let g = Gpu::with(&[c"VK_KHR_pipeline_binary"], &mut vk::PhysicalDeviceVulkan11Features::default());
    let s = Saxpy::new(&g, vk::DescriptorType::STORAGE_BUFFER);
    unsafe {
        let d = &g.device;
        let f = |name: &std::ffi::CStr| {
            g.instance.get_device_proc_addr(d.handle(), name.as_ptr()).expect("it is there")
        };
        let create: Create = std::mem::transmute(f(c"vkCreatePipelineBinariesKHR"));
        let get: Data = std::mem::transmute(f(c"vkGetPipelineBinaryDataKHR"));
        let destroy: Destroy = std::mem::transmute(f(c"vkDestroyPipelineBinaryKHR"));
        // A layout, and so a program, that no other test has.
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 52 }];
        let sets = [s.set];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let make = |module, flags: u64, binaries: &[new::PipelineBinaryKHR]| {
            let with = new::PipelineBinaryInfoKHR {
                binary_count: binaries.len() as u32,
                p_pipeline_binaries: binaries.as_ptr(),
                ..Default::default()
            };
            let flags = new::PipelineCreateFlags2CreateInfoKHR {
                flags: new::PipelineCreateFlags2KHR::from_raw(flags),
                p_next: (&raw const with).cast(),
                ..Default::default()
            };
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo {
                p_next: (&raw const flags).cast(),
                ..vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)
            };
            d.create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
                .map(|p| p[0])
                .map_err(|e| e.1)
        };
        const CAPTURE: u64 = 1 << 31;
        const MUST: u64 = 1 << 8; // VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT
        let binaries_of = |info: &new::PipelineBinaryCreateInfoKHR, room: &mut [new::PipelineBinaryKHR]| {
            let mut out = new::PipelineBinaryHandlesInfoKHR {
                pipeline_binary_count: room.len() as u32,
                p_pipeline_binaries: if room.is_empty() { std::ptr::null_mut() } else { room.as_mut_ptr() },
                ..Default::default()
            };
            (create(d.handle(), info, std::ptr::null(), &mut out), out.pipeline_binary_count)
        };
        let plain = make(s.module, 0, &[]).unwrap();
        let of = |pipeline| new::PipelineBinaryCreateInfoKHR { pipeline, ..Default::default() };
        let mut binary = [new::PipelineBinaryKHR::null()];
        assert_ne!(binaries_of(&of(plain), &mut binary).0, vk::Result::SUCCESS, "captured nothing");
        d.destroy_pipeline(plain, None);
        let first = make(s.module, CAPTURE, &[]).unwrap();
        assert_eq!(binaries_of(&of(first), &mut []), (vk::Result::SUCCESS, 1));
        assert_eq!(binaries_of(&of(first), &mut binary), (vk::Result::SUCCESS, 1));
        let which = new::PipelineBinaryDataInfoKHR { pipeline_binary: binary[0], ..Default::default() };
        let (mut key, mut size) = (new::PipelineBinaryKeyKHR::default(), 0);
        assert_eq!(get(d.handle(), &which, &mut key, &mut size, std::ptr::null_mut()), vk::Result::SUCCESS);
        assert!(size > 0 && (1..=32).contains(&key.key_size));
        let mut blob = vec![0u8; size];
        let mut less = size - 1;
        let r = get(d.handle(), &which, &mut key, &mut less, blob.as_mut_ptr().cast());
        assert_eq!((r, less), (new::ERROR_NOT_ENOUGH_SPACE_KHR, size));
        assert_eq!(
            get(d.handle(), &which, &mut key, &mut size, blob.as_mut_ptr().cast()),
            vk::Result::SUCCESS
        );
        destroy(d.handle(), binary[0], std::ptr::null());
        d.destroy_pipeline(first, None);
        // Nobody has the program any more.
        assert_eq!(make(s.module, MUST, &[]), Err(vk::Result::PIPELINE_COMPILE_REQUIRED));
        let of_data = |blob: &[u8], binary: &mut [new::PipelineBinaryKHR]| {
            let data = new::PipelineBinaryDataKHR {
                data_size: blob.len(),
                p_data: blob.as_ptr().cast_mut().cast(),
                ..Default::default()
            };
            let given = new::PipelineBinaryKeysAndDataKHR {
                binary_count: 1,
                p_pipeline_binary_keys: &key,
                p_pipeline_binary_data: &data,
                ..Default::default()
            };
            let info =
                new::PipelineBinaryCreateInfoKHR { p_keys_and_data_info: &given, ..Default::default() };
            binaries_of(&info, binary).0
        };
        // What is changed, or cut, is none.
        for at in [0, 9, 20, 40, 60, size - 1] {
            let mut bad = blob.clone();
            bad[at] ^= 1;
            assert_ne!(of_data(&bad, &mut binary), vk::Result::SUCCESS, "byte {at}");
            assert_ne!(of_data(&blob[..at], &mut binary), vk::Result::SUCCESS, "{at} bytes");
        }
        assert_eq!(of_data(&blob, &mut binary), vk::Result::SUCCESS);
        let again = make(vk::ShaderModule::null(), MUST, &binary).unwrap();
        destroy(d.handle(), binary[0], std::ptr::null());
        let (mut y, mut x) = (g.buffer(N), g.buffer(N));
        fill(&mut y, |i| i as f32);
        fill(&mut x, |i| 2.0 * i as f32);
        let (pool, set) = s.set(&g, vk::DescriptorType::STORAGE_BUFFER, y.buffer, x.buffer);
        g.run(|d, c| {
            d.cmd_bind_pipeline(c, COMPUTE, again);
            d.cmd_bind_descriptor_sets(c, COMPUTE, layout, 0, &[set], &[]);
            d.cmd_dispatch(c, 1, 1, 1);
        });
        assert_eq!(floats(&y), (0..N).map(|i| 1.25 * i as f32).collect::<Vec<_>>());
        d.destroy_pipeline(again, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_descriptor_pool(pool, None);
        s.free(&g);
        g.free(y);
        g.free(x);
    }
}
