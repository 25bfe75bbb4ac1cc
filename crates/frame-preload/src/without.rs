//! What programs ask for and do not get: `FRAME_WITHOUT` names parts of samplers' and pipelines' state, between commas, that
//! are left out. Pictures of two drivers that are alike without one differ by it.

use ash::vk;
use preload::Next;
use std::sync::LazyLock;

/// Names of parts.
struct Without {
    /// `anisotropy`: of samplers.
    anisotropy: bool,
    /// `levels`: but the first, of samplers.
    levels: bool,
    /// `back`: back faces.
    back: bool,
    /// `coverage`: alpha to coverage.
    coverage: bool,
}

static WITHOUT: LazyLock<Without> = LazyLock::new(|| {
    let words = std::env::var("FRAME_WITHOUT").unwrap_or_default();
    let is = |name| words.split(',').any(|w| w == name);
    Without { anisotropy: is("anisotropy"), levels: is("levels"), back: is("back"), coverage: is("coverage") }
});

/// # Safety
/// As the loader's, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkCreateSampler(
    device: vk::Device,
    info: *const vk::SamplerCreateInfo,
    allocator: *const vk::AllocationCallbacks,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    static NEXT: Next<vk::PFN_vkCreateSampler> = Next::new(c"vkCreateSampler");
    // SAFETY: as the loader's: the caller's arguments are good.
    unsafe {
        let mut info = *info;
        if WITHOUT.anisotropy {
            info.anisotropy_enable = vk::FALSE;
        }
        if WITHOUT.levels {
            (info.min_lod, info.max_lod) = (0.0, 0.0);
        }
        NEXT.get()(device, &info, allocator, sampler)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkCreateGraphicsPipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo,
    allocator: *const vk::AllocationCallbacks,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    static NEXT: Next<vk::PFN_vkCreateGraphicsPipelines> = Next::new(c"vkCreateGraphicsPipelines");
    // SAFETY: as the loader's: the caller's arguments are good. Pointers of libraries' parts may be null.
    unsafe {
        let mut infos: Vec<_> = (0..count as usize).map(|i| *infos.add(i)).collect();
        let mut rasters: Vec<_> = infos.iter().map(|i| i.p_rasterization_state.as_ref().copied()).collect();
        let mut samples: Vec<_> = infos.iter().map(|i| i.p_multisample_state.as_ref().copied()).collect();
        for ((info, raster), samples) in infos.iter_mut().zip(&mut rasters).zip(&mut samples) {
            if let Some(r) = raster.as_mut().filter(|_| WITHOUT.back) {
                r.cull_mode |= vk::CullModeFlags::BACK;
                info.p_rasterization_state = r;
            }
            if let Some(s) = samples.as_mut().filter(|_| WITHOUT.coverage) {
                s.alpha_to_coverage_enable = vk::FALSE;
                info.p_multisample_state = s;
            }
        }
        NEXT.get()(device, cache, count, infos.as_ptr(), allocator, pipelines)
    }
}
