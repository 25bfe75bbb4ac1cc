//! What formats and images the device has (Vulkan specification, chapter "Formats" and "Additional Image
//! Capabilities"), from the GPU's format table.

use crate::base::given::{Fill, In};
use crate::instance::extensions;
use crate::instance::limits::MAX_SPARSE;
use crate::instance::limits::{MAX_ALLOCATION, MAX_ARRAY_LAYERS, MAX_IMAGE_2D, MAX_IMAGE_3D, SAMPLE_COUNTS};
use crate::instance::physical_device::SPARSE as SPARSE_IS_THERE;
use crate::instance::physical_device::{PhysicalDevice, external_memory};
use gpu::graphs::flow::{COSTS, IMAGES, VECTORS};
use texel::format::FormatInfo;
use vk::{FormatFeatureFlags2 as F, ImageCreateFlags as C, ImageUsageFlags as U};

/// Images that are bound on queues.
const SPARSE: C =
    C::from_raw(C::SPARSE_BINDING.as_raw() | C::SPARSE_RESIDENCY.as_raw() | C::SPARSE_ALIASED.as_raw());

fn when(on: bool, flags: F) -> F {
    if on { flags } else { F::empty() }
}

/// What samplers with a Y′CbCr conversion can do. Reconstruction is implicit, unless a conversion asks for the other.
const CONVERSION: F = F::from_raw(
    F::MIDPOINT_CHROMA_SAMPLES.as_raw()
        | F::COSITED_CHROMA_SAMPLES.as_raw()
        | F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER.as_raw()
        | F::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER.as_raw(),
);

/// Of formats of tensors, and of images that share memory with them.
const ALIASED: F = vk::FORMAT_FEATURE_2_TENSOR_IMAGE_ALIASING_BIT_ARM;

/// The features of images of a format with optimal tiling.
pub(crate) fn optimal(f: &FormatInfo) -> F {
    if !f.image() {
        return F::empty();
    }
    let drawn = when(f.blit_src(), F::BLIT_SRC)
        | when(f.blit_dst(), F::BLIT_DST)
        | when(
            f.storage(),
            F::STORAGE_IMAGE | F::STORAGE_READ_WITHOUT_FORMAT | F::STORAGE_WRITE_WITHOUT_FORMAT,
        )
        | when(f.storage_atomic(), F::STORAGE_IMAGE_ATOMIC)
        | when(f.color_attachment(), F::COLOR_ATTACHMENT)
        | when(f.blendable(), F::COLOR_ATTACHMENT_BLEND)
        | when(f.depth_stencil(), F::DEPTH_STENCIL_ATTACHMENT)
        | when(f.format == vk::Format::R8_UINT, F::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR)
        | when(f.format == vk::Format::R8G8_UNORM, F::FRAGMENT_DENSITY_MAP_EXT);
    if f.requires_conversion() {
        let planes = texel::format::planar(f.format).is_some();
        return F::TRANSFER_SRC
            | F::TRANSFER_DST
            | F::HOST_IMAGE_TRANSFER_EXT
            | F::SAMPLED_IMAGE
            | F::SAMPLED_IMAGE_FILTER_LINEAR
            | CONVERSION
            | drawn
            | when(planes, F::DISJOINT);
    }
    F::TRANSFER_SRC
        | F::TRANSFER_DST
        | drawn
        | when(IMAGES.contains(&f.format), vk::FORMAT_FEATURE_2_DATA_GRAPH_OPTICAL_FLOW_IMAGE_BIT_ARM)
        | when(f.format == VECTORS, vk::FORMAT_FEATURE_2_DATA_GRAPH_OPTICAL_FLOW_VECTOR_BIT_ARM)
        | when(f.format == COSTS, vk::FORMAT_FEATURE_2_DATA_GRAPH_OPTICAL_FLOW_COST_BIT_ARM)
        | when(f.is_of_elements(), ALIASED)
        | when(f.convertible(), CONVERSION)
        | F::HOST_IMAGE_TRANSFER_EXT
        | vk::FORMAT_FEATURE_2_COPY_IMAGE_INDIRECT_DST_BIT_KHR
        | when(f.sampled(), F::SAMPLED_IMAGE)
        | when(f.filterable(), F::SAMPLED_IMAGE_FILTER_LINEAR)
        | when(f.minmax(), F::SAMPLED_IMAGE_FILTER_MINMAX)
        | when(f.sampled() && f.has_depth(), F::SAMPLED_IMAGE_DEPTH_COMPARISON)
}

/// With linear tiling: colour formats only.
pub(crate) fn linear(f: &FormatInfo) -> F {
    if f.is_depth_stencil() { F::empty() } else { optimal(f) & !ALIASED }
}

/// Of buffers.
pub(crate) fn buffer(f: &FormatInfo) -> F {
    when(f.uniform_texel_buffer(), F::UNIFORM_TEXEL_BUFFER)
        | when(
            f.storage_texel_buffer(),
            F::STORAGE_TEXEL_BUFFER | F::STORAGE_READ_WITHOUT_FORMAT | F::STORAGE_WRITE_WITHOUT_FORMAT,
        )
        | when(f.storage_texel_buffer() && f.storage_atomic(), F::STORAGE_TEXEL_BUFFER_ATOMIC)
        | when(f.vertex(), F::VERTEX_BUFFER)
        | when(
            extensions::rays() && gpu::structure::is_vertex_format(f),
            F::ACCELERATION_STRUCTURE_VERTEX_BUFFER_KHR,
        )
}

/// The features that the first 31 bits can say.
pub(crate) fn low(f: F) -> vk::FormatFeatureFlags {
    // The bits of both types are the same as far as the older goes (up to the attachment shading rate's).
    vk::FormatFeatureFlags::from_raw(f.as_raw() as u32 & 0x7fff_ffff)
}

pub(crate) fn get_physical_device_format_properties2(
    physical_device: &PhysicalDevice,
    format: vk::Format,
    p_format_properties: Fill<vk::FormatProperties2>,
) {
    let hidden = physical_device.instance.client.hides(format);
    let info = texel::format::info(format).filter(|_| !hidden);
    let [linear, optimal, buffer] = [linear, optimal, buffer].map(|of| info.map_or(F::empty(), of));
    let mut out = p_format_properties;
    out.format_properties = vk::FormatProperties {
        linear_tiling_features: low(linear),
        optimal_tiling_features: low(optimal),
        buffer_features: low(buffer),
    };
    if let Some(mut p3) = out.find::<vk::FormatProperties3>() {
        p3.linear_tiling_features = linear;
        p3.optimal_tiling_features = optimal;
        p3.buffer_features = buffer;
    }
    if let Some(mut t) = out.find::<vk::TensorFormatPropertiesARM>() {
        let features = crate::memory::tensor::features(format);
        t.linear_tiling_tensor_features = features;
        t.optimal_tiling_tensor_features = features | when(!features.is_empty(), ALIASED);
    }
    if let Some(mut t) = out.find::<vk::TensorExplicitTilingFormatPropertiesARM>() {
        let features = crate::memory::tensor::features(format);
        t.brick16_tiling_tensor_features = features;
        t.brick8_tiling_tensor_features = features;
        t.brick4_tiling_tensor_features = features;
        t.block_u_tiling_tensor_features = features;
        t.block_u64k_tiling_tensor_features = features;
    }
    crate::memory::drm::tell(info, &mut out);
    // Tiles resolve every format before they are stored.
    if let Some(mut q) = out.find::<vk::SubpassResolvePerformanceQueryEXT>() {
        q.optimal = vk::TRUE;
    }
}

pub(crate) fn get_physical_device_multisample_properties_ext(
    _physical_device: &PhysicalDevice,
    samples: vk::SampleCountFlags,
    mut out: Fill<vk::MultisamplePropertiesEXT>,
) {
    // A grid of one pixel, or none where locations cannot be chosen.
    let side = (SAMPLE_COUNTS.contains(samples) && samples.as_raw() > 1) as u32;
    out.max_sample_location_grid_size = vk::Extent2D { width: side, height: side };
}

/// Whether images whose format has `features` can have `usage`.
fn usable(usage: U, features: F) -> bool {
    let needs = [
        (U::SAMPLED, F::SAMPLED_IMAGE),
        (U::STORAGE, F::STORAGE_IMAGE),
        (U::COLOR_ATTACHMENT, F::COLOR_ATTACHMENT),
        (U::DEPTH_STENCIL_ATTACHMENT, F::DEPTH_STENCIL_ATTACHMENT),
        (U::INPUT_ATTACHMENT, F::COLOR_ATTACHMENT | F::DEPTH_STENCIL_ATTACHMENT),
        (U::TRANSFER_SRC, F::TRANSFER_SRC),
        (U::TRANSFER_DST, F::TRANSFER_DST),
        (U::HOST_TRANSFER_EXT, F::HOST_IMAGE_TRANSFER_EXT),
        (U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR, F::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR),
        (vk::IMAGE_USAGE_TENSOR_ALIASING_BIT_ARM, ALIASED),
        (U::FRAGMENT_DENSITY_MAP_EXT, F::FRAGMENT_DENSITY_MAP_EXT),
    ];
    needs.iter().all(|&(u, f)| !usage.contains(u) || features.intersects(f))
}

/// What images of one kind can be; the error is `FORMAT_NOT_SUPPORTED` for a kind that there is not.
pub(crate) fn image_properties(
    format: vk::Format,
    ty: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: U,
    flags: C,
) -> Result<vk::ImageFormatProperties, vk::Result> {
    let no = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    let Some(info) = texel::format::info(format) else { return no };
    let features = match tiling {
        vk::ImageTiling::OPTIMAL => optimal(info),
        vk::ImageTiling::LINEAR => linear(info),
        _ => return no,
    };
    let known_usage = U::SAMPLED
        | U::STORAGE
        | U::COLOR_ATTACHMENT
        | U::DEPTH_STENCIL_ATTACHMENT
        | U::INPUT_ATTACHMENT
        | U::TRANSIENT_ATTACHMENT
        | U::TRANSFER_SRC
        | U::TRANSFER_DST
        | U::HOST_TRANSFER_EXT
        | U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR
        | vk::IMAGE_USAGE_TENSOR_ALIASING_BIT_ARM
        | U::FRAGMENT_DENSITY_MAP_EXT
        | U::ATTACHMENT_FEEDBACK_LOOP_EXT;
    let known_flags = C::MUTABLE_FORMAT
        | C::CUBE_COMPATIBLE
        | C::ALIAS
        | C::TYPE_2D_ARRAY_COMPATIBLE
        | C::BLOCK_TEXEL_VIEW_COMPATIBLE
        | C::EXTENDED_USAGE
        | C::SPLIT_INSTANCE_BIND_REGIONS
        | C::DISJOINT
        | C::TYPE_2D_VIEW_COMPATIBLE_EXT
        | C::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT
        | C::SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_EXT
        | C::PROTECTED
        | C::SUBSAMPLED_EXT
        | vk::IMAGE_CREATE_FRAGMENT_DENSITY_MAP_OFFSET_BIT_EXT
        | C::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT
        | SPARSE
        | vk::IMAGE_CREATE_ALIAS_SINGLE_LAYER_DESCRIPTOR_BIT_KHR;
    if features.is_empty() || !known_usage.contains(usage) || !known_flags.contains(flags) {
        return no;
    }
    // With extended usage it is the views' formats that must have it.
    if !flags.contains(C::EXTENDED_USAGE) && !usable(usage, features) {
        return no;
    }
    if flags.contains(C::BLOCK_TEXEL_VIEW_COMPATIBLE) && !info.compressed() {
        return no;
    }
    // Of depth alone (VUID-VkImageCreateInfo-flags-01533); tile buffers keep each sample's depth, wherever it lies.
    if flags.contains(C::SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_EXT) && !info.has_depth() {
        return no;
    }
    if flags & (C::DISJOINT | C::ALIAS) == C::DISJOINT && !features.contains(F::DISJOINT) {
        return no;
    }
    if flags.intersects(SPARSE) {
        let in_parts = flags.contains(C::SPARSE_RESIDENCY);
        let blocks = || texel::image::blocks::shapes(info, ty, 1);
        if !SPARSE_IS_THERE
            || !flags.contains(C::SPARSE_BINDING)
            || usage.contains(U::TRANSIENT_ATTACHMENT)
            || flags.intersects(C::DISJOINT | C::PROTECTED)
            || in_parts && (tiling != vk::ImageTiling::OPTIMAL || blocks().is_empty())
        {
            return no;
        }
    }
    let converted = info.requires_conversion();
    if converted && (ty != vk::ImageType::TYPE_2D || flags.contains(C::CUBE_COMPATIBLE)) {
        return no;
    }
    let flat_only = info.compressed() && !block_3d(format);
    let cube = flags.contains(C::CUBE_COMPATIBLE);
    // Subsampled images and maps of fragment densities are flat (VUID-VkImageCreateInfo-flags-02565 and following).
    let subsampled = flags.contains(C::SUBSAMPLED_EXT);
    let flat = subsampled || usage.contains(U::FRAGMENT_DENSITY_MAP_EXT);
    if flat && ty != vk::ImageType::TYPE_2D || subsampled && (cube || tiling != vk::ImageTiling::OPTIMAL) {
        return no;
    }
    let of_3d = C::TYPE_2D_ARRAY_COMPATIBLE | C::TYPE_2D_VIEW_COMPATIBLE_EXT;
    let (extent, layers) = match ty {
        vk::ImageType::TYPE_1D if !info.compressed() && !cube && !flags.intersects(of_3d) => {
            ([MAX_IMAGE_2D, 1, 1], MAX_ARRAY_LAYERS)
        }
        vk::ImageType::TYPE_2D if !flags.intersects(of_3d) => {
            ([MAX_IMAGE_2D, MAX_IMAGE_2D, 1], MAX_ARRAY_LAYERS)
        }
        vk::ImageType::TYPE_3D if !flat_only && !cube => ([MAX_IMAGE_3D; 3], 1),
        _ => return no,
    };
    // Images of several samples are flat, and of formats that can be attachments ("Supported Sample Counts").
    let attachable = features.intersects(F::COLOR_ATTACHMENT | F::DEPTH_STENCIL_ATTACHMENT);
    let many = ty == vk::ImageType::TYPE_2D && tiling == vk::ImageTiling::OPTIMAL && !cube && attachable;
    let one = U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR | U::FRAGMENT_DENSITY_MAP_EXT;
    let many = many && !usage.intersects(one);
    Ok(vk::ImageFormatProperties {
        max_extent: vk::Extent3D { width: extent[0], height: extent[1], depth: extent[2] },
        max_mip_levels: if converted || subsampled { 1 } else { 32 - extent[0].leading_zeros() },
        max_array_layers: layers,
        sample_counts: if many { SAMPLE_COUNTS } else { vk::SampleCountFlags::TYPE_1 },
        max_resource_size: if flags.intersects(SPARSE) { MAX_SPARSE } else { MAX_ALLOCATION },
    })
}

/// Whether a compressed format also comes in three dimensions, slice by slice: BC and ASTC do.
fn block_3d(format: vk::Format) -> bool {
    (vk::Format::BC1_RGB_UNORM_BLOCK..=vk::Format::BC7_SRGB_BLOCK).contains(&format)
        || (vk::Format::ASTC_4X4_UNORM_BLOCK..=vk::Format::ASTC_12X12_SRGB_BLOCK).contains(&format)
        || texel::format::block::is_astc_hdr(format)
}

pub(crate) fn get_physical_device_image_format_properties2(
    physical_device: &PhysicalDevice,
    p_image_format_info: In<vk::PhysicalDeviceImageFormatInfo2>,
    p_image_format_properties: Fill<vk::ImageFormatProperties2>,
) -> vk::Result {
    let info = p_image_format_info;
    let mut out = p_image_format_properties;
    let external = info.find::<vk::PhysicalDeviceExternalImageFormatInfo>().map(|e| e.handle_type);
    let stencil = info.find::<vk::ImageStencilUsageCreateInfo>().map(|s| s.stencil_usage);
    let usage = info.usage | stencil.unwrap_or_default();
    if let Some(mut p) = out.find::<vk::SubsampledImageFormatPropertiesEXT>() {
        p.subsampled_image_descriptor_count = 1;
    }
    let result = match crate::memory::drm::asked(info) {
        _ if physical_device.instance.client.hides(info.format) => {
            Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)
        }
        Some(tiling) => image_properties(info.format, info.ty, tiling, usage, info.flags),
        None => Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED),
    };
    // Protected memory is shared with nobody.
    let protected = info.flags.contains(C::PROTECTED);
    let memory = external
        .filter(|e| !e.is_empty())
        .map(|e| if protected { Default::default() } else { external_memory(e) });
    let importable = memory.is_none_or(|m| !m.external_memory_features.is_empty());
    if let Some(mut p) = out.find::<vk::ExternalImageFormatProperties>() {
        p.external_memory_properties = memory.unwrap_or_default();
    }
    let image = vk::ImageCreateInfo::default()
        .image_type(info.ty)
        .tiling(info.tiling)
        .usage(info.usage)
        .flags(info.flags)
        .samples(vk::SampleCountFlags::TYPE_1);
    let packed = texel::format::info(info.format).is_some_and(|f| {
        texel::image::may_be_packed(&image, f) && !crate::memory::image::uncompressed(info.find())
    });
    crate::memory::image::tell_compression(out.find(), packed);
    if let Some(mut p) = out.find::<vk::HostImageCopyDevicePerformanceQuery>() {
        p.optimal_device_access = vk::TRUE;
        p.identical_memory_layout = vk::TRUE;
    }
    if let Some(mut p) = out.find::<vk::SamplerYcbcrConversionImageFormatProperties>() {
        p.combined_image_sampler_descriptor_count = 1;
    }
    match result {
        Ok(p) if importable => {
            out.image_format_properties = p;
            vk::Result::SUCCESS
        }
        _ => {
            out.image_format_properties = Default::default();
            vk::Result::ERROR_FORMAT_NOT_SUPPORTED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// VUID-VkImageCreateInfo-flags-01533; zink asks for every depth image with it.
    #[test]
    fn depth_alone_takes_sample_locations() {
        let flags = C::SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_EXT;
        let of = |format, usage| {
            let optimal = vk::ImageTiling::OPTIMAL;
            let with = |flags| image_properties(format, vk::ImageType::TYPE_2D, optimal, usage, flags);
            (with(flags), with(C::empty()))
        };
        for format in [vk::Format::D16_UNORM, vk::Format::D32_SFLOAT, vk::Format::D24_UNORM_S8_UINT] {
            let (with, without) = of(format, U::DEPTH_STENCIL_ATTACHMENT | U::SAMPLED);
            let (with, without) = (with.unwrap(), without.unwrap());
            assert_eq!(with.sample_counts, without.sample_counts, "{format:?}");
            assert_eq!(with.max_extent, without.max_extent, "{format:?}");
        }
        let (with, without) = of(vk::Format::R8G8B8A8_UNORM, U::COLOR_ATTACHMENT);
        assert!(with.is_err() && without.is_ok());
    }

    #[test]
    fn older_and_newer_feature_bits_agree() {
        assert_eq!(low(F::SAMPLED_IMAGE_FILTER_LINEAR), vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
        assert_eq!(low(F::SAMPLED_IMAGE_FILTER_MINMAX), vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX);
        assert_eq!(low(F::TRANSFER_DST), vk::FormatFeatureFlags::TRANSFER_DST);
    }

    #[test]
    fn images_that_there_are_and_are_not() {
        let q = |f, t, u, c| image_properties(f, t, vk::ImageTiling::OPTIMAL, u, c);
        let rgba = q(vk::Format::R8G8B8A8_UNORM, vk::ImageType::TYPE_2D, U::SAMPLED | U::STORAGE, C::empty());
        assert_eq!(rgba.map(|p| p.max_mip_levels), Ok(15));
        let cube = q(vk::Format::R8G8B8A8_UNORM, vk::ImageType::TYPE_3D, U::SAMPLED, C::CUBE_COMPATIBLE);
        assert!(cube.is_err());
        assert!(q(vk::Format::BC1_RGB_UNORM_BLOCK, vk::ImageType::TYPE_3D, U::SAMPLED, C::empty()).is_ok());
        assert!(
            q(vk::Format::ETC2_R8G8B8_UNORM_BLOCK, vk::ImageType::TYPE_3D, U::SAMPLED, C::empty()).is_err()
        );
        assert!(q(vk::Format::BC1_RGB_UNORM_BLOCK, vk::ImageType::TYPE_2D, U::STORAGE, C::empty()).is_err());
        let (binding, residency) = (C::SPARSE_BINDING, C::SPARSE_BINDING | C::SPARSE_RESIDENCY);
        assert!(q(vk::Format::R8_UNORM, vk::ImageType::TYPE_1D, U::SAMPLED, binding).is_ok());
        assert!(q(vk::Format::R8_UNORM, vk::ImageType::TYPE_1D, U::SAMPLED, residency).is_err());
        assert!(q(vk::Format::R8_UNORM, vk::ImageType::TYPE_2D, U::SAMPLED, residency).is_ok());
        assert!(q(vk::Format::R8_UNORM, vk::ImageType::TYPE_2D, U::SAMPLED, C::SPARSE_RESIDENCY).is_err());
        assert!(q(vk::Format::UNDEFINED, vk::ImageType::TYPE_2D, U::SAMPLED, C::empty()).is_err());
    }
}
