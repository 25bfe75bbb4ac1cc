//! VkSamplerYcbcrConversion: what a sampler and a view of an image in Y′CbCr are made with. Samplers need nothing of it: the view has all that
//! it takes to sample (`texel::sample::Ycbcr`).

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use std::sync::Arc;
use texel::sample::Conversion;

pub struct YcbcrConversion {
    gpu: Arc<Conversion>,
}

impl Object for YcbcrConversion {
    type Handle = vk::SamplerYcbcrConversion;
}

/// The conversion that a structure of a chain names, if there is one.
pub(crate) fn named(info: Option<In<vk::SamplerYcbcrConversionInfo>>) -> Answer<Option<Arc<Conversion>>> {
    let Some(i) = info else { return Ok(None) };
    match i.object::<YcbcrConversion>(i.conversion) {
        Some(c) => Ok(Some(c.gpu.clone())),
        None => Err(invalid("VkSamplerYcbcrConversionInfo names no conversion")),
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

pub(crate) fn create_sampler_ycbcr_conversion(
    _: &Device,
    info: In<vk::SamplerYcbcrConversionCreateInfo>,
    out: Out<vk::SamplerYcbcrConversion>,
) -> vk::Result {
    created(out, new(&info))
}

pub(crate) fn destroy_sampler_ycbcr_conversion(_: &Device, conversion: Doomed<YcbcrConversion>) {
    conversion.destroy();
}
