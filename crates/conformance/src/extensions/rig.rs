//! A device with the extensions, and what checks draw with: rectangles of one colour and depth.

use super::text;
use client::graphics::{Bindings, Image, ImageInfo, Pipeline, PipelineInfo};
use client::{Context, Library};
use std::ffi::{CStr, c_void};
use std::rc::Rc;

/// Extensions that ash lacks.
pub const COOPERATIVE_MATRIX2: &CStr = c"VK_NV_cooperative_matrix2";
pub const COOPERATIVE_VECTOR: &CStr = c"VK_NV_cooperative_vector";
pub const BOX: &[u8] = include_bytes!("../../shaders/extensions/box.vert.spv");
pub const COLOUR: &[u8] = include_bytes!("../../shaders/extensions/box.frag.spv");
pub const RGBA8: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Pixels of a side of most targets.
pub const SIDE: u32 = 8;

pub struct Rig {
    pub context: Rc<Context>,
}

/// A structure of a chain, with the extension that it needs.
type Link = (&'static CStr, *mut vk::BaseOutStructure<'static>);

/// Chains the features of the extensions that are there.
fn chained(links: &[Link], there: impl Fn(&CStr) -> bool) -> *mut vk::BaseOutStructure<'static> {
    let mut first = std::ptr::null_mut();
    for (name, s) in links {
        if there(name) {
            // SAFETY: each structure lives until the device is made, and is in the chain once.
            unsafe { (**s).p_next = first };
            first = *s;
        }
    }
    first
}

impl Rig {
    /// On the first device that the environment shows.
    pub fn open() -> Result<Rig, String> {
        let reported = Context::with(Library::any().map_err(text)?).map_err(text)?.extensions();
        let there = |name: &CStr| reported.iter().any(|r| r.as_bytes() == name.to_bytes());
        let mut single = vk::PhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT::default()
            .multisampled_render_to_single_sampled(true);
        let mut loops = vk::PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT::default()
            .attachment_feedback_loop_layout(true);
        let mut set = vk::PhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT::default()
            .attachment_feedback_loop_dynamic_state(true);
        let mut bias = vk::PhysicalDeviceDepthBiasControlFeaturesEXT::default()
            .depth_bias_control(true)
            .least_representable_value_force_unorm_representation(true)
            .float_representation(true)
            .depth_bias_exact(true);
        let mut host = vk::PhysicalDeviceHostImageCopyFeaturesEXT::default().host_image_copy(true);
        let mut maintenance8 =
            vk::PhysicalDeviceMaintenance8FeaturesKHR { maintenance8: vk::TRUE, ..Default::default() };
        let mut blend = vk::PhysicalDeviceBlendOperationAdvancedFeaturesEXT::default()
            .advanced_blend_coherent_operations(true);
        let mut interlock = vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT::default()
            .fragment_shader_sample_interlock(true)
            .fragment_shader_pixel_interlock(true);
        let mut weights = vk::PhysicalDeviceFragmentShaderBarycentricFeaturesKHR::default()
            .fragment_shader_barycentric(true);
        let mut states = vk::PhysicalDeviceExtendedDynamicState3FeaturesEXT::default()
            .extended_dynamic_state3_sample_locations_enable(true)
            .extended_dynamic_state3_color_blend_advanced(true)
            .extended_dynamic_state3_conservative_rasterization_mode(true)
            .extended_dynamic_state3_extra_primitive_overestimation_size(true);
        let mut tile = vk::PhysicalDeviceShaderTileImageFeaturesEXT::default()
            .shader_tile_image_color_read_access(true)
            .shader_tile_image_depth_read_access(true)
            .shader_tile_image_stencil_read_access(true);
        let mut ycbcr =
            vk::PhysicalDeviceSamplerYcbcrConversionFeatures::default().sampler_ycbcr_conversion(true);
        let mut arrays = vk::PhysicalDeviceYcbcrImageArraysFeaturesEXT::default().ycbcr_image_arrays(true);
        let mut of_two =
            vk::PhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT::default().ycbcr2plane444_formats(true);
        let mut matrices = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default().cooperative_matrix(true);
        let mut brains = vk::PhysicalDeviceShaderBfloat16FeaturesKHR {
            shader_b_float16_type: vk::TRUE,
            shader_b_float16_cooperative_matrix: vk::TRUE,
            ..Default::default()
        };
        let mut tensors = vk::PhysicalDeviceTensorFeaturesARM {
            tensors: vk::TRUE,
            tensor_non_packed: vk::TRUE,
            shader_tensor_access: vk::TRUE,
            ..Default::default()
        };
        let mut graphs = vk::PhysicalDeviceDataGraphFeaturesARM {
            data_graph: vk::TRUE,
            data_graph_shader_module: vk::TRUE,
            ..Default::default()
        };
        let mut more_matrices = vk::PhysicalDeviceCooperativeMatrix2FeaturesNV {
            cooperative_matrix_workgroup_scope: vk::TRUE,
            cooperative_matrix_flexible_dimensions: vk::TRUE,
            cooperative_matrix_reductions: vk::TRUE,
            cooperative_matrix_conversions: vk::TRUE,
            cooperative_matrix_per_element_operations: vk::TRUE,
            cooperative_matrix_tensor_addressing: vk::TRUE,
            cooperative_matrix_block_loads: vk::TRUE,
            ..Default::default()
        };
        let mut vectors = vk::PhysicalDeviceCooperativeVectorFeaturesNV {
            cooperative_vector: vk::TRUE,
            cooperative_vector_training: vk::TRUE,
            ..Default::default()
        };
        let mut rates = vk::PhysicalDeviceFragmentShadingRateFeaturesKHR::default()
            .pipeline_fragment_shading_rate(true)
            .primitive_fragment_shading_rate(true)
            .attachment_fragment_shading_rate(true);
        let links: [Link; 21] = [
            (ash::ext::multisampled_render_to_single_sampled::NAME, (&raw mut single).cast()),
            (ash::ext::attachment_feedback_loop_layout::NAME, (&raw mut loops).cast()),
            (ash::ext::attachment_feedback_loop_dynamic_state::NAME, (&raw mut set).cast()),
            (ash::ext::depth_bias_control::NAME, (&raw mut bias).cast()),
            (ash::ext::host_image_copy::NAME, (&raw mut host).cast()),
            (c"VK_KHR_maintenance8", (&raw mut maintenance8).cast()),
            (ash::ext::blend_operation_advanced::NAME, (&raw mut blend).cast()),
            (ash::ext::fragment_shader_interlock::NAME, (&raw mut interlock).cast()),
            (ash::khr::fragment_shader_barycentric::NAME, (&raw mut weights).cast()),
            (ash::ext::extended_dynamic_state3::NAME, (&raw mut states).cast()),
            (ash::ext::shader_tile_image::NAME, (&raw mut tile).cast()),
            (ash::khr::sampler_ycbcr_conversion::NAME, (&raw mut ycbcr).cast()),
            (ash::ext::ycbcr_image_arrays::NAME, (&raw mut arrays).cast()),
            (ash::ext::ycbcr_2plane_444_formats::NAME, (&raw mut of_two).cast()),
            (ash::khr::cooperative_matrix::NAME, (&raw mut matrices).cast()),
            (c"VK_KHR_shader_bfloat16", (&raw mut brains).cast()),
            (ash::khr::fragment_shading_rate::NAME, (&raw mut rates).cast()),
            (c"VK_ARM_tensors", (&raw mut tensors).cast()),
            (c"VK_ARM_data_graph", (&raw mut graphs).cast()),
            (COOPERATIVE_MATRIX2, (&raw mut more_matrices).cast()),
            (COOPERATIVE_VECTOR, (&raw mut vectors).cast()),
        ];
        let chain = chained(&links, there);
        // Promoted ones that host copies need before Vulkan 1.3 are core; these have no feature.
        let more = [
            ash::ext::post_depth_coverage::NAME,
            ash::ext::sample_locations::NAME,
            ash::ext::conservative_rasterization::NAME,
            ash::khr::deferred_host_operations::NAME,
            c"VK_ARM_data_graph_instruction_set_tosa",
        ];
        let all = links.iter().map(|(name, _)| *name).chain(more);
        let names: Vec<_> = all.filter(|n| there(n)).collect();
        let library = Library::any().map_err(text)?;
        Ok(Rig { context: Context::extended(library, &names, chain).map_err(text)? })
    }

    /// Whether the device reports an extension; the core (no name) is always there.
    pub fn reports(&self, name: &CStr) -> bool {
        name.is_empty() || self.context.extensions().iter().any(|e| e.as_bytes() == name.to_bytes())
    }

    pub fn image(&self, info: ImageInfo) -> Result<Image, String> {
        Image::new(&self.context, info).map_err(text)
    }

    /// Records, submits and waits.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), String> {
        self.context.run(record).map_err(text)
    }

    /// A pipeline that draws [`Rectangle`]s into RGBA8.
    pub fn boxes(&self, change: impl FnOnce(&mut PipelineInfo)) -> Result<Pipeline, String> {
        self.boxes_with(None, change)
    }

    pub fn boxes_with(
        &self,
        bindings: Option<&Bindings>,
        change: impl FnOnce(&mut PipelineInfo),
    ) -> Result<Pipeline, String> {
        let mut info = PipelineInfo::new(BOX, COLOUR, RGBA8);
        info.push_size = PUSH;
        change(&mut info);
        Pipeline::new(&self.context, &info, bindings).map_err(text)
    }

    /// Red of the pixels of the first row of each layer.
    pub fn reds(&self, image: &Image) -> Result<Vec<u8>, String> {
        let [w, h] = image.info.size;
        let bytes = image.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
        let rows = bytes.chunks((w * h * 4) as usize).map(|layer| &layer[..w as usize * 4]);
        Ok(rows.flat_map(|row| row.chunks(4).map(|p| p[0])).collect())
    }
}

/// Bytes of [`Rectangle::push`].
pub const PUSH: u32 = 36;

/// A rectangle from column to column, over all rows of a target of [`SIDE`] pixels.
#[derive(Clone, Copy)]
pub struct Rectangle {
    /// Pixels.
    pub from: f32,
    pub to: f32,
    /// 255ths, in all channels.
    pub value: u8,
    pub depth: f32,
}

impl Rectangle {
    pub fn push(&self) -> Vec<u8> {
        let clip = |x: f32| x / SIDE as f32 * 2.0 - 1.0;
        let c = f32::from(self.value) / 255.0;
        let words = [clip(self.from), -1.0, clip(self.to), 1.0, c, c, c, c, self.depth];
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    /// Records its drawing, `instances` times.
    pub fn draw(&self, d: &ash::Device, c: vk::CommandBuffer, p: &Pipeline, instances: u32) {
        p.bind(c, None, &self.push());
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_draw(c, 6, instances, 0, 0) }
    }

    /// Records its drawing by a pipeline that reads something.
    pub fn draw_with(&self, d: &ash::Device, c: vk::CommandBuffer, p: &Pipeline, bindings: &Bindings) {
        p.bind(c, Some(bindings), &self.push());
        // SAFETY: as above.
        unsafe { d.cmd_draw(c, 6, 1, 0, 0) }
    }
}

pub fn area() -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: SIDE, height: SIDE } }
}

/// Sets viewport and scissor to the whole of a target of [`SIDE`] pixels.
pub fn whole(d: &ash::Device, c: vk::CommandBuffer) {
    whole_of(d, c, [SIDE; 2]);
}

/// Sets viewport and scissor to the whole of a target.
pub fn whole_of(d: &ash::Device, c: vk::CommandBuffer, [width, height]: [u32; 2]) {
    let (w, h) = (width as f32, height as f32);
    let viewport = vk::Viewport { x: 0.0, y: 0.0, width: w, height: h, min_depth: 0.0, max_depth: 1.0 };
    let all = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
    // SAFETY: recording into a command buffer that has begun.
    unsafe {
        d.cmd_set_viewport(c, 0, &[viewport]);
        d.cmd_set_scissor(c, 0, &[all]);
    }
}

/// A clear of an image in `GENERAL` layout.
pub fn fill(d: &ash::Device, c: vk::CommandBuffer, image: &Image, value: u8) {
    let v = f32::from(value) / 255.0;
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    };
    let colour = vk::ClearColorValue { float32: [v; 4] };
    // SAFETY: recording into a command buffer that has begun, with live handles.
    unsafe { d.cmd_clear_color_image(c, image.handle, vk::ImageLayout::GENERAL, &colour, &[range]) }
    client::graphics::barrier(d, c);
}

/// A value of 255ths to clear to.
pub fn cleared(value: u8) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32: [f32::from(value) / 255.0; 4] } }
}

pub fn layers(
    aspect_mask: vk::ImageAspectFlags,
    mip_level: u32,
    base_array_layer: u32,
    layer_count: u32,
) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer, layer_count }
}

/// The first row of an image of 32-bit floats that is [`SIDE`] pixels wide.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0[..SIDE as usize].iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// As a chain's head.
pub fn chain<T>(s: &T) -> *const c_void {
    (s as *const T).cast()
}
