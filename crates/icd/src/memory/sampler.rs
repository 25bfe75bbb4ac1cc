//! VkSampler. Its Y′CbCr conversion is done by the view, which has the same ([`crate::memory::ycbcr_conversion`]).

use crate::base::answer::created;
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use machine::descriptor_memory::Named;
use std::sync::{Arc, OnceLock};

/// The sampler in a form that sampling reads; descriptors keep it.
pub struct Sampler {
    pub(crate) gpu: Arc<texel::sample::Sampler>,
    /// Its name in descriptor buffers, once it was wanted there.
    name: OnceLock<u64>,
}

impl Object for Sampler {
    type Handle = vk::Sampler;
}

impl Sampler {
    /// What descriptors in buffers call it.
    pub(crate) fn name(&self, device: &Device) -> u64 {
        *self.name.get_or_init(|| device.names().add(Named::Sampler(self.gpu.clone())))
    }
}

pub(crate) unsafe fn create_sampler(
    _: &Device,
    info: *const vk::SamplerCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Sampler,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        if let Err(e) = crate::memory::ycbcr_conversion::named(i.p_next) {
            *out = vk::Sampler::null();
            return e;
        }
        let custom =
            matches!(i.border_color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT);
        let border = chain::find::<vk::SamplerCustomBorderColorCreateInfoEXT>(i.p_next)
            .filter(|_| custom)
            .map(|b| b.custom_border_color.uint32);
        let gpu = Arc::new(texel::sample::Sampler::new(i, border, reduction(i)));
        created(out, Ok(Sampler { gpu, name: OnceLock::new() }))
    }
}

/// How a sampler's texels become one.
///
/// # Safety
/// The structure is valid with its chain.
pub(crate) unsafe fn reduction(info: &vk::SamplerCreateInfo) -> vk::SamplerReductionMode {
    // SAFETY: the caller keeps what is asked for above.
    let mode = unsafe { chain::find::<vk::SamplerReductionModeCreateInfo>(info.p_next) };
    mode.map_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE, |r| r.reduction_mode)
}

pub(crate) unsafe fn destroy_sampler(
    device: &Device,
    sampler: vk::Sampler,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(s) = object::destroy::<Sampler>(sampler) {
            if let Some(&name) = s.name.get() {
                device.names().remove(name);
            }
            device.quarantine.keep(Box::new(s.gpu), &device.gpu);
        }
    }
}
