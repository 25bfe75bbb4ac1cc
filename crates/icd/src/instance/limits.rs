//! Limits: the one table of `VkPhysicalDeviceLimits`, and the numbers that other modules share with it.

use crate::instance::structs::Value::{self, *};
use raster::geometry::line::{LINE_WIDTHS, POINT_SIZES};

pub(crate) const MAX_PUSH_CONSTANTS: u32 = 256;
/// Levels of command buffers below a primary one.
pub(crate) const MAX_NESTING: u32 = 16;
pub(crate) const MAX_BOUND_DESCRIPTOR_SETS: u32 = 32;
/// Uniform, and as many storage, buffers of one set whose offset is given at binding.
pub(crate) const MAX_DYNAMIC_BUFFERS: u32 = 256;
pub(crate) const MAX_PUSH_DESCRIPTORS: u32 = 32;
pub(crate) const MAX_DESCRIPTOR_BUFFERS: u32 = 32;
pub(crate) const MAX_INLINE_UNIFORM_BLOCK: u32 = 4096;
pub(crate) const MAX_IMAGE_2D: u32 = 16384;
pub(crate) const MAX_IMAGE_3D: u32 = 4096;
pub(crate) const MAX_ARRAY_LAYERS: u32 = 2048;
pub(crate) const MAX_SHARED_MEMORY: u32 = 32768;
pub(crate) const MAX_WORKGROUP_INVOCATIONS: u32 = 1024;
pub(crate) const MAX_WORKGROUP_COUNT: u32 = 65535;
pub(crate) const SUBGROUP_SIZE: u32 = 16;
/// The largest allocation and buffer, in bytes.
pub(crate) const MAX_ALLOCATION: u64 = 1 << 32;
pub(crate) const MIN_HOST_POINTER_ALIGNMENT: u64 = 4096;
/// Of uniform, storage and texel buffers, in bytes.
pub(crate) const MIN_BUFFER_OFFSET_ALIGNMENT: u64 = 16;
/// 1, 2, 4, 8 and 16 samples.
pub(crate) const SAMPLE_COUNTS: vk::SampleCountFlags = vk::SampleCountFlags::from_raw(0x1F);
const SAMPLES: u32 = SAMPLE_COUNTS.as_raw();
/// Descriptors of one kind, or of all, that a stage or a set can have.
pub(crate) const MAX_DESCRIPTORS: u32 = 1_000_000;

pub(crate) const MAX_BINDINGS: usize = 32;
pub(crate) const MAX_VIEWPORTS: usize = raster::prim::Side::VIEWPORTS;
pub(crate) const MAX_COLORS: usize = 8;
/// Pixels of the largest fragment along x and y (maxFragmentSize).
pub(crate) const MAX_FRAGMENT: u32 = 1 << raster::state::FragmentSize::MOST;
/// Pixels along x and y of texels that say at which rate fragments are shaded, least and most.
pub(crate) const RATE_TEXEL: [u32; 2] = [raster::tile::item::coarse::AREA as u32, 64];
/// Pixels by which primitives may grow (maxExtraPrimitiveOverestimationSize).
pub(crate) const MAX_OVERESTIMATION: f32 = 0.75;
/// The largest address space that one sparse resource may take, in bytes.
pub(crate) const MAX_SPARSE: u64 = 1 << 38;
/// maxSamplerHeapSize, maxResourceHeapSize
pub(crate) const MAX_HEAP: u64 = 1 << 28;
/// Faults of which a device keeps a report.
pub(crate) const MAX_FAULTS: u32 = machine::lost::MAX_FAULTS as u32;
/// maxIndirectPipelineCount, maxIndirectShaderObjectCount
pub(crate) const MAX_INDIRECT_SET: u32 = 4096;
/// maxIndirectSequenceCount
pub(crate) const MAX_INDIRECT_SEQUENCES: u32 = 1 << 20;
/// maxIndirectCommandsTokenCount
pub(crate) const MAX_INDIRECT_TOKENS: u32 = 128;
/// Workgroups that an application may have dealt to a core together.
pub(crate) const MAX_BATCH: u32 = 65535;
/// maxIndirectCommandsTokenOffset, maxIndirectCommandsIndirectStride
pub(crate) const MAX_INDIRECT_STRIDE: u32 = 2048;
/// supportedIndirectCommandsInputModes
pub(crate) const INDIRECT_INPUT_MODES: u32 = 0b11;
/// Layouts in which images can be copied from and to.
pub(crate) const HOST_COPY_LAYOUTS: [vk::ImageLayout; 19] = [
    vk::ImageLayout::GENERAL,
    vk::ImageLayout::PREINITIALIZED,
    vk::ImageLayout::PRESENT_SRC_KHR,
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
    vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::READ_ONLY_OPTIMAL,
    vk::ImageLayout::ATTACHMENT_OPTIMAL,
    vk::ImageLayout::RENDERING_LOCAL_READ_KHR,
    vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
];
/// shaderBinaryVersion. A binary is valid for one build only, as shaderBinaryUUID says.
pub(crate) const SHADER_BINARY_VERSION: u32 = 1;

/// Members of `VkPhysicalDeviceLimits`: at least WebGPU's default limits, else as lavapipe has them.
pub(crate) static LIMITS: &[(&str, Value)] = &[
    ("maxImageDimension1D", U32(MAX_IMAGE_2D)),
    ("maxImageDimension2D", U32(MAX_IMAGE_2D)),
    ("maxImageDimension3D", U32(MAX_IMAGE_3D)),
    ("maxImageDimensionCube", U32(MAX_IMAGE_2D)),
    ("maxImageArrayLayers", U32(MAX_ARRAY_LAYERS)),
    ("maxTexelBufferElements", U32(1 << 27)),
    ("maxUniformBufferRange", U32(65536)),
    ("maxStorageBufferRange", U32(1 << 30)),
    ("maxPushConstantsSize", U32(MAX_PUSH_CONSTANTS)),
    ("maxMemoryAllocationCount", U32(u32::MAX)),
    ("maxSamplerAllocationCount", U32(32768)),
    ("bufferImageGranularity", U64(64)),
    ("sparseAddressSpaceSize", U64(texel::memory::sparse::ADDRESS_SPACE)),
    ("maxBoundDescriptorSets", U32(MAX_BOUND_DESCRIPTOR_SETS)),
    ("maxPerStageDescriptorSamplers", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUniformBuffers", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorStorageBuffers", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorSampledImages", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorStorageImages", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorInputAttachments", U32(MAX_DESCRIPTORS)),
    ("maxPerStageResources", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetSamplers", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUniformBuffers", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUniformBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetStorageBuffers", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetStorageBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetSampledImages", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetStorageImages", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetInputAttachments", U32(MAX_DESCRIPTORS)),
    ("maxVertexInputAttributes", U32(32)),
    ("maxVertexInputBindings", U32(32)),
    ("maxVertexInputAttributeOffset", U32(2047)),
    ("maxVertexInputBindingStride", U32(2048)),
    ("maxVertexOutputComponents", U32(128)),
    ("maxTessellationGenerationLevel", U32(64)),
    ("maxTessellationPatchSize", U32(shader::stage_io::MAX_PATCH_VERTICES)),
    ("maxTessellationControlPerVertexInputComponents", U32(128)),
    ("maxTessellationControlPerVertexOutputComponents", U32(128)),
    ("maxTessellationControlPerPatchOutputComponents", U32(120)),
    ("maxTessellationControlTotalOutputComponents", U32(8312)),
    ("maxTessellationEvaluationInputComponents", U32(128)),
    ("maxTessellationEvaluationOutputComponents", U32(128)),
    ("maxGeometryShaderInvocations", U32(32)),
    ("maxGeometryInputComponents", U32(128)),
    ("maxGeometryOutputComponents", U32(128)),
    ("maxGeometryOutputVertices", U32(256)),
    ("maxGeometryTotalOutputComponents", U32(1024)),
    ("maxFragmentInputComponents", U32(128)),
    ("maxFragmentOutputAttachments", U32(MAX_COLORS as u32)),
    ("maxFragmentDualSrcAttachments", U32(1)),
    ("maxFragmentCombinedOutputResources", U32(104)),
    ("maxComputeSharedMemorySize", U32(MAX_SHARED_MEMORY)),
    ("maxComputeWorkGroupCount", U32s(&[MAX_WORKGROUP_COUNT; 3])),
    ("maxComputeWorkGroupInvocations", U32(MAX_WORKGROUP_INVOCATIONS)),
    ("maxComputeWorkGroupSize", U32s(&[MAX_WORKGROUP_INVOCATIONS; 3])),
    ("subPixelPrecisionBits", U32(8)),
    ("subTexelPrecisionBits", U32(8)),
    ("mipmapPrecisionBits", U32(6)),
    ("maxDrawIndexedIndexValue", U32(u32::MAX)),
    ("maxDrawIndirectCount", U32(u32::MAX)),
    ("maxSamplerLodBias", F32(16.0)),
    ("maxSamplerAnisotropy", F32(16.0)),
    ("maxViewports", U32(MAX_VIEWPORTS as u32)),
    ("maxViewportDimensions", U32s(&[MAX_IMAGE_2D; 2])),
    ("viewportBoundsRange", F32s(&[-32768.0, 32767.0])),
    ("viewportSubPixelBits", U32(8)),
    ("minMemoryMapAlignment", U64(4096)),
    ("minTexelBufferOffsetAlignment", U64(MIN_BUFFER_OFFSET_ALIGNMENT)),
    ("minUniformBufferOffsetAlignment", U64(MIN_BUFFER_OFFSET_ALIGNMENT)),
    ("minStorageBufferOffsetAlignment", U64(MIN_BUFFER_OFFSET_ALIGNMENT)),
    ("minTexelOffset", I32(-32)),
    ("maxTexelOffset", U32(31)),
    ("minTexelGatherOffset", I32(-32)),
    ("maxTexelGatherOffset", U32(31)),
    ("minInterpolationOffset", F32(-0.5)),
    ("maxInterpolationOffset", F32(0.4375)),
    ("subPixelInterpolationOffsetBits", U32(4)),
    ("maxFramebufferWidth", U32(MAX_IMAGE_2D)),
    ("maxFramebufferHeight", U32(MAX_IMAGE_2D)),
    ("maxFramebufferLayers", U32(MAX_ARRAY_LAYERS)),
    ("framebufferColorSampleCounts", U32(SAMPLES)),
    ("framebufferDepthSampleCounts", U32(SAMPLES)),
    ("framebufferStencilSampleCounts", U32(SAMPLES)),
    ("framebufferNoAttachmentsSampleCounts", U32(SAMPLES)),
    ("maxColorAttachments", U32(MAX_COLORS as u32)),
    ("sampledImageColorSampleCounts", U32(SAMPLES)),
    ("sampledImageIntegerSampleCounts", U32(SAMPLES)),
    ("sampledImageDepthSampleCounts", U32(SAMPLES)),
    ("sampledImageStencilSampleCounts", U32(SAMPLES)),
    ("storageImageSampleCounts", U32(SAMPLES)),
    ("maxSampleMaskWords", U32(1)),
    ("timestampComputeAndGraphics", Bool(true)),
    ("timestampPeriod", F32(1.0)),
    ("maxClipDistances", U32(8)),
    ("maxCullDistances", U32(8)),
    ("maxCombinedClipAndCullDistances", U32(8)),
    ("discreteQueuePriorities", U32(2)),
    ("pointSizeRange", F32s(&POINT_SIZES)),
    ("lineWidthRange", F32s(&LINE_WIDTHS)),
    ("pointSizeGranularity", F32(0.125)),
    ("lineWidthGranularity", F32(0.125)),
    ("strictLines", Bool(true)),
    ("standardSampleLocations", Bool(true)),
    ("optimalBufferCopyOffsetAlignment", U64(64)),
    ("optimalBufferCopyRowPitchAlignment", U64(64)),
    ("nonCoherentAtomSize", U64(64)),
];
