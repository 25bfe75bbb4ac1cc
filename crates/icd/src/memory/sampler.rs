//! VkSampler. Its Y′CbCr conversion is done by the view, which has the same ([`crate::memory::ycbcr_conversion`]).

use crate::base::answer::created;
use crate::base::given::{Doomed, In, Out, words};
use crate::base::object::Object;
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

pub(crate) fn create_sampler(
    _: &Device,
    info: In<vk::SamplerCreateInfo>,
    out: Out<vk::Sampler>,
) -> vk::Result {
    let i = info;
    if let Err(e) = crate::memory::ycbcr_conversion::named(i.find()) {
        out.set(vk::Sampler::null());
        return e;
    }
    let custom =
        matches!(i.border_color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT);
    let border = i
        .find::<vk::SamplerCustomBorderColorCreateInfoEXT>()
        .filter(|_| custom)
        .map(|b| words(&b.custom_border_color));
    let gpu = Arc::new(texel::sample::Sampler::new(&i, border, reduction(i)));
    created(out, Ok(Sampler { gpu, name: OnceLock::new() }))
}

/// How a sampler's texels become one.
pub(crate) fn reduction(info: In<vk::SamplerCreateInfo>) -> vk::SamplerReductionMode {
    let mode = info.find::<vk::SamplerReductionModeCreateInfo>();
    mode.map_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE, |r| r.reduction_mode)
}

pub(crate) fn destroy_sampler(device: &Device, sampler: Doomed<Sampler>) {
    if let Some(s) = sampler.destroy() {
        if let Some(&name) = s.name.get() {
            device.names().remove(name);
        }
        device.quarantine.keep(Box::new(s.gpu), &device.gpu);
    }
}
