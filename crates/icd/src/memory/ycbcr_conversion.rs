//! VkSamplerYcbcrConversion: what a sampler and a view of an image in Y′CbCr are made with. Samplers need nothing of it: the view has all that
//! it takes to sample (`texel::sample::Ycbcr`).

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use std::ffi::c_void;
use std::sync::Arc;
use texel::sample::Conversion;

pub struct YcbcrConversion {
    gpu: Arc<Conversion>,
}

impl Object for YcbcrConversion {
    type Handle = vk::SamplerYcbcrConversion;
}

/// The conversion that a chain names, if it names one.
///
/// # Safety
/// The chain is valid.
pub(crate) unsafe fn named(chain: *const c_void) -> Answer<Option<Arc<Conversion>>> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        match chain::find::<vk::SamplerYcbcrConversionInfo>(chain) {
            Some(i) => match object::get::<YcbcrConversion>(i.conversion) {
                Some(c) => Ok(Some(c.gpu.clone())),
                None => Err(invalid("VkSamplerYcbcrConversionInfo names no conversion")),
            },
            None => Ok(None),
        }
    }
}

/// "Valid Usage for VkSamplerYcbcrConversionCreateInfo", as far as the format decides.
fn new(i: &vk::SamplerYcbcrConversionCreateInfo) -> Answer<YcbcrConversion> {
    use vk::SamplerYcbcrModelConversion as Model;
    let known = matches!(
        i.ycbcr_model,
        Model::RGB_IDENTITY | Model::YCBCR_IDENTITY | Model::YCBCR_709 | Model::YCBCR_601 | Model::YCBCR_2020
    );
    if !known || !texel::format::info(i.format).is_some_and(|f| f.convertible()) {
        return Err(invalid(&format!(
            "vkCreateSamplerYcbcrConversion: {:?} has no conversion {:?}",
            i.format, i.ycbcr_model
        )));
    }
    if i.force_explicit_reconstruction != vk::FALSE {
        return Err(invalid(
            "vkCreateSamplerYcbcrConversion: no format has explicit reconstruction \
             (SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE)",
        ));
    }
    Ok(YcbcrConversion { gpu: Arc::new(Conversion::new(i)) })
}

pub(crate) unsafe fn create_sampler_ycbcr_conversion(
    _: &Device,
    info: *const vk::SamplerYcbcrConversionCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::SamplerYcbcrConversion,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, new(&*info)) }
}

pub(crate) unsafe fn destroy_sampler_ycbcr_conversion(
    _: &Device,
    conversion: vk::SamplerYcbcrConversion,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        object::destroy::<YcbcrConversion>(conversion);
    }
}
