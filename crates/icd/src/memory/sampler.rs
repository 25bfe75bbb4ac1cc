//! VkSampler. Its Y′CbCr conversion is done by the view, which has the same ([`crate::memory::ycbcr_conversion`]).

use crate::base::answer::created;
use crate::base::given::{Doomed, In, Out, words};
use crate::base::object::Object;
use crate::device::Device;
use crate::memory::capture;
use machine::descriptor_memory::{Name, Named};
use std::sync::Arc;

/// The sampler in a form that sampling reads; descriptors keep it.
pub struct Sampler {
    pub(crate) gpu: Arc<texel::sample::Sampler>,
    /// In descriptor buffers.
    pub(crate) name: Name,
}

impl Object for Sampler {
    type Handle = vk::Sampler;
}

impl Sampler {
    /// What descriptors in buffers call it.
    pub(crate) fn name(&self, device: &Device) -> u64 {
        self.name.get(device.names(), || Named::Sampler(self.gpu.clone()))
    }
}

pub(crate) fn create_sampler(
    device: &Device,
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
    let is_kept = i.flags.contains(vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
    let name = capture::name(device, is_kept, capture::in_buffers(i.find()), &|| Named::Sampler(gpu.clone()));
    created(out, name.map(|name| Sampler { gpu, name }))
}

/// How a sampler's texels become one.
pub(crate) fn reduction(info: In<vk::SamplerCreateInfo>) -> vk::SamplerReductionMode {
    let mode = info.find::<vk::SamplerReductionModeCreateInfo>();
    mode.map_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE, |r| r.reduction_mode)
}

pub(crate) fn destroy_sampler(device: &Device, sampler: Doomed<Sampler>) {
    if let Some(s) = sampler.destroy() {
        s.name.end(device.names());
        device.quarantine.keep(Box::new(s.gpu), &device.gpu);
    }
}
