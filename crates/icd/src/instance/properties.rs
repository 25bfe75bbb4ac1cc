//! Properties: the one table of what the device says of itself besides its limits, and the writer that fills every
//! property structure from both.

use crate::base::given::Fill;
use crate::instance::features::known;
use crate::instance::generated::structs::{CORE_PROPERTIES, PROPERTY_STRUCTS};
use crate::instance::limits::*;
use crate::instance::physical_device::{API_VERSION, QUEUE_FLAGS, SPARSE};
use crate::instance::structs::PropertyStruct;
use crate::instance::structs::Value::{self, *};
use machine::descriptor::DESCRIPTOR_BYTES;
use machine::descriptor_memory::{CAPTURED_BYTES, MAX_CUSTOM_BORDER_COLORS, MAX_DESCRIPTOR_BUFFER_RANGE};
use machine::tensor::MAX_BYTES;
use raster::regions;
use shader::options::tensor;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// A vendor id in the manner of PCI's ("tu"): Khronos has registered none for us.
pub(crate) const VENDOR_ID: u32 = 0x7475;
pub(crate) const DEVICE_ID: u32 = 0x6666;
/// Khronos has registered no VkDriverId for Tuff, and another's would be a lie.
const DRIVER_ID: u32 = VENDOR_ID;
/// This release as a Vulkan version.
const DRIVER_VERSION: u32 = vk::make_api_version(0, 0, 1, 0);
/// Same build, same data in pipeline caches: what `build.rs` made of the sources.
pub(crate) static CACHE_UUID: [u8; 16] = match u128::from_str_radix(env!("TUFF_BUILD"), 16) {
    Ok(key) => key.to_be_bytes(),
    Err(_) => panic!("build.rs writes hexadecimal digits"),
};
/// Same value, same order of bytes in images.
static LAYOUT_UUID: [u8; 16] = *b"tuff-layouts-001";
static DEVICE_UUID: [u8; 16] = *b"tuff-device-0001";
static DRIVER_UUID: [u8; 16] = gpu::structure::DRIVER_UUID;

/// The stages that generated commands can run.
const INDIRECT_STAGES: u32 = vk::ShaderStageFlags::VERTEX.as_raw()
    | vk::ShaderStageFlags::TESSELLATION_CONTROL.as_raw()
    | vk::ShaderStageFlags::TESSELLATION_EVALUATION.as_raw()
    | vk::ShaderStageFlags::GEOMETRY.as_raw()
    | vk::ShaderStageFlags::TASK_EXT.as_raw()
    | vk::ShaderStageFlags::MESH_EXT.as_raw()
    | vk::ShaderStageFlags::FRAGMENT.as_raw()
    | vk::ShaderStageFlags::COMPUTE.as_raw();
const STAGES: u32 = INDIRECT_STAGES
    | vk::ShaderStageFlags::RAYGEN_KHR.as_raw()
    | vk::ShaderStageFlags::ANY_HIT_KHR.as_raw()
    | vk::ShaderStageFlags::CLOSEST_HIT_KHR.as_raw()
    | vk::ShaderStageFlags::MISS_KHR.as_raw()
    | vk::ShaderStageFlags::INTERSECTION_KHR.as_raw()
    | vk::ShaderStageFlags::CALLABLE_KHR.as_raw();
const SUBGROUP_OPERATIONS: u32 = vk::SubgroupFeatureFlags::BASIC.as_raw()
    | vk::SubgroupFeatureFlags::VOTE.as_raw()
    | vk::SubgroupFeatureFlags::ARITHMETIC.as_raw()
    | vk::SubgroupFeatureFlags::BALLOT.as_raw()
    | vk::SubgroupFeatureFlags::SHUFFLE.as_raw()
    | vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE.as_raw()
    | vk::SubgroupFeatureFlags::CLUSTERED.as_raw()
    | vk::SubgroupFeatureFlags::QUAD.as_raw()
    | vk::SubgroupFeatureFlags::ROTATE_KHR.as_raw()
    | vk::SubgroupFeatureFlags::ROTATE_CLUSTERED_KHR.as_raw();
const INDEPENDENCE: u32 = vk::ShaderFloatControlsIndependence::ALL.as_raw() as u32;
const ROBUST_BUFFERS: u32 = vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS_2.as_raw() as u32;
const ROBUST_IMAGES: u32 = vk::PipelineRobustnessImageBehaviorEXT::ROBUST_IMAGE_ACCESS_2.as_raw() as u32;
const RESOLVE_STENCIL: u32 = vk::ResolveModeFlags::SAMPLE_ZERO.as_raw()
    | vk::ResolveModeFlags::MIN.as_raw()
    | vk::ResolveModeFlags::MAX.as_raw();
const RESOLVE_DEPTH: u32 = RESOLVE_STENCIL | vk::ResolveModeFlags::AVERAGE.as_raw();
const INLINE_BLOCKS: u32 = 256;
/// Workgroups of a draw of mesh tasks, and of a task workgroup's.
const MESH_GROUPS: u32 = raster::geometry::mesh::MAX_GROUPS as u32;
/// What vertex shaders read of locations that no attribute has.
const DEFAULT_ATTRIBUTE: vk::DefaultVertexAttributeValueKHR =
    vk::DefaultVertexAttributeValueKHR::ZERO_ZERO_ZERO_ZERO;

/// Every other member of the property structures of core 1.3 and the extensions reported, by its name.
pub(crate) static PROPERTIES: &[(&str, Value)] = &[
    // VkPhysicalDeviceProperties
    ("apiVersion", U32(API_VERSION)),
    ("driverVersion", U32(DRIVER_VERSION)),
    ("vendorID", U32(VENDOR_ID)),
    ("deviceID", U32(DEVICE_ID)),
    ("pipelineCacheUUID", Bytes(&CACHE_UUID)),
    ("residencyStandard2DBlockShape", Bool(SPARSE)),
    ("residencyStandard2DMultisampleBlockShape", Bool(SPARSE)),
    ("residencyStandard3DBlockShape", Bool(SPARSE)),
    ("residencyAlignedMipSize", Bool(false)),
    ("residencyNonResidentStrict", Bool(SPARSE)),
    // 1.1
    // BLAKE3 of the words, cut to half its length.
    ("shaderModuleIdentifierAlgorithmUUID", Bytes(b"tuff-blake3-0001")),
    ("deviceUUID", Bytes(&DEVICE_UUID)),
    ("driverUUID", Bytes(&DRIVER_UUID)),
    ("deviceLUID", Bytes(&[0; 8])),
    ("deviceNodeMask", U32(0)),
    ("deviceLUIDValid", Bool(false)),
    ("subgroupSize", U32(SUBGROUP_SIZE)),
    ("supportedStages", U32(STAGES)),
    ("subgroupSupportedStages", U32(STAGES)),
    ("supportedOperations", U32(SUBGROUP_OPERATIONS)),
    ("subgroupSupportedOperations", U32(SUBGROUP_OPERATIONS)),
    ("quadOperationsInAllStages", Bool(true)),
    ("subgroupQuadOperationsInAllStages", Bool(true)),
    ("pointClippingBehavior", U32(vk::PointClippingBehavior::ALL_CLIP_PLANES.as_raw() as u32)),
    ("maxMultiviewViewCount", U32(6)),
    ("maxMultiviewInstanceIndex", U32((1 << 27) - 1)),
    ("protectedNoFault", Bool(false)),
    ("maxPerSetDescriptors", U32(MAX_DESCRIPTORS)),
    ("maxMemoryAllocationSize", U64(MAX_ALLOCATION)),
    // 1.2
    ("driverID", U32(DRIVER_ID)),
    ("driverName", Str("Tuff")),
    ("driverInfo", Str(concat!("Tuff ", env!("CARGO_PKG_VERSION")))),
    ("denormBehaviorIndependence", U32(INDEPENDENCE)),
    ("roundingModeIndependence", U32(INDEPENDENCE)),
    ("shaderSignedZeroInfNanPreserveFloat16", Bool(true)),
    ("shaderSignedZeroInfNanPreserveFloat32", Bool(true)),
    ("shaderSignedZeroInfNanPreserveFloat64", Bool(true)),
    ("shaderDenormPreserveFloat16", Bool(true)),
    ("shaderDenormPreserveFloat32", Bool(true)),
    ("shaderDenormPreserveFloat64", Bool(true)),
    ("shaderDenormFlushToZeroFloat16", Bool(true)),
    ("shaderDenormFlushToZeroFloat32", Bool(true)),
    ("shaderDenormFlushToZeroFloat64", Bool(true)),
    ("shaderRoundingModeRTEFloat16", Bool(true)),
    ("shaderRoundingModeRTEFloat32", Bool(true)),
    ("shaderRoundingModeRTEFloat64", Bool(true)),
    ("shaderRoundingModeRTZFloat16", Bool(true)),
    ("shaderRoundingModeRTZFloat32", Bool(true)),
    ("shaderRoundingModeRTZFloat64", Bool(true)),
    ("maxUpdateAfterBindDescriptorsInAllPools", U32(u32::MAX)),
    ("shaderUniformBufferArrayNonUniformIndexingNative", Bool(true)),
    ("shaderSampledImageArrayNonUniformIndexingNative", Bool(true)),
    ("shaderStorageBufferArrayNonUniformIndexingNative", Bool(true)),
    ("shaderStorageImageArrayNonUniformIndexingNative", Bool(true)),
    ("shaderInputAttachmentArrayNonUniformIndexingNative", Bool(true)),
    ("robustBufferAccessUpdateAfterBind", Bool(true)),
    ("quadDivergentImplicitLod", Bool(true)),
    ("maxPerStageDescriptorUpdateAfterBindSamplers", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindUniformBuffers", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindStorageBuffers", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindSampledImages", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindStorageImages", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindInputAttachments", U32(MAX_DESCRIPTORS)),
    ("maxPerStageUpdateAfterBindResources", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindSamplers", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindUniformBuffers", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindUniformBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetUpdateAfterBindStorageBuffers", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindStorageBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetUpdateAfterBindSampledImages", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindStorageImages", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindInputAttachments", U32(MAX_DESCRIPTORS)),
    ("supportedDepthResolveModes", U32(RESOLVE_DEPTH)),
    ("supportedStencilResolveModes", U32(RESOLVE_STENCIL)),
    ("independentResolveNone", Bool(true)),
    ("independentResolve", Bool(true)),
    ("filterMinmaxSingleComponentFormats", Bool(true)),
    ("filterMinmaxImageComponentMapping", Bool(true)),
    ("maxTimelineSemaphoreValueDifference", U64(u64::MAX)),
    ("framebufferIntegerColorSampleCounts", U32(SAMPLE_COUNTS.as_raw())),
    // 1.3
    ("minSubgroupSize", U32(SUBGROUP_SIZE)),
    ("maxSubgroupSize", U32(SUBGROUP_SIZE)),
    ("maxComputeWorkgroupSubgroups", U32(MAX_WORKGROUP_INVOCATIONS / SUBGROUP_SIZE)),
    ("requiredSubgroupSizeStages", U32(STAGES)),
    ("maxInlineUniformBlockSize", U32(MAX_INLINE_UNIFORM_BLOCK)),
    ("maxPerStageDescriptorInlineUniformBlocks", U32(INLINE_BLOCKS)),
    ("maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks", U32(INLINE_BLOCKS)),
    ("maxDescriptorSetInlineUniformBlocks", U32(INLINE_BLOCKS)),
    ("maxDescriptorSetUpdateAfterBindInlineUniformBlocks", U32(INLINE_BLOCKS)),
    ("maxInlineUniformTotalSize", U32(1 << 18)),
    ("storageTexelBufferOffsetAlignmentBytes", U64(MIN_BUFFER_OFFSET_ALIGNMENT)),
    ("storageTexelBufferOffsetSingleTexelAlignment", Bool(true)),
    ("uniformTexelBufferOffsetAlignmentBytes", U64(MIN_BUFFER_OFFSET_ALIGNMENT)),
    ("uniformTexelBufferOffsetSingleTexelAlignment", Bool(true)),
    ("maxBufferSize", U64(MAX_ALLOCATION)),
    // VK_KHR_maintenance5, 6, 7
    ("earlyFragmentMultisampleCoverageAfterSampleCounting", Bool(true)),
    ("earlyFragmentSampleMaskTestBeforeSampleCounting", Bool(true)),
    ("depthStencilSwizzleOneSupport", Bool(true)),
    ("polygonModePointSize", Bool(true)),
    ("nonStrictSinglePixelWideLinesUseParallelogram", Bool(false)),
    ("nonStrictWideLinesUseParallelogram", Bool(false)),
    ("blockTexelViewCompatibleMultipleLayers", Bool(true)),
    ("maxCombinedImageSamplerDescriptorCount", U32(1)),
    ("fragmentShadingRateClampCombinerInputs", Bool(false)),
    ("robustFragmentShadingRateAttachmentAccess", Bool(false)),
    ("separateDepthStencilAttachmentAccess", Bool(true)),
    ("maxDescriptorSetTotalUniformBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetTotalStorageBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetTotalBuffersDynamic", U32(2 * MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetUpdateAfterBindTotalUniformBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetUpdateAfterBindTotalStorageBuffersDynamic", U32(MAX_DYNAMIC_BUFFERS)),
    ("maxDescriptorSetUpdateAfterBindTotalBuffersDynamic", U32(2 * MAX_DYNAMIC_BUFFERS)),
    ("maxIndirectPipelineCount", U32(MAX_INDIRECT_SET)),
    ("maxIndirectShaderObjectCount", U32(MAX_INDIRECT_SET)),
    ("maxIndirectSequenceCount", U32(MAX_INDIRECT_SEQUENCES)),
    ("maxIndirectCommandsTokenCount", U32(MAX_INDIRECT_TOKENS)),
    ("maxIndirectCommandsTokenOffset", U32(MAX_INDIRECT_STRIDE)),
    ("maxIndirectCommandsIndirectStride", U32(MAX_INDIRECT_STRIDE)),
    ("supportedIndirectCommandsInputModes", U32(INDIRECT_INPUT_MODES)),
    ("supportedIndirectCommandsShaderStages", U32(INDIRECT_STAGES)),
    ("supportedIndirectCommandsShaderStagesPipelineBinding", U32(INDIRECT_STAGES)),
    ("supportedIndirectCommandsShaderStagesShaderBinding", U32(INDIRECT_STAGES)),
    ("deviceGeneratedCommandsTransformFeedback", Bool(true)),
    ("deviceGeneratedCommandsMultiDrawIndirectCount", Bool(true)),
    ("pipelineBinaryInternalCache", Bool(false)),
    ("pipelineBinaryInternalCacheControl", Bool(false)),
    ("pipelineBinaryPrefersInternalCache", Bool(false)),
    ("pipelineBinaryPrecompiledInternalCache", Bool(false)),
    ("pipelineBinaryCompressedData", Bool(false)),
    ("layeredApiCount", U32(0)),
    // 1.4, VK_KHR_maintenance9, 10
    ("dynamicRenderingLocalReadDepthStencilAttachments", Bool(true)),
    ("dynamicRenderingLocalReadMultisampledAttachments", Bool(true)),
    ("maxDeviceFaultCount", U32(MAX_FAULTS)),
    ("supportedQueues", U32(QUEUE_FLAGS.as_raw())),
    ("image2DViewOf3DSparse", Bool(SPARSE)),
    ("defaultVertexAttributeValue", U32(DEFAULT_ATTRIBUTE.as_raw() as u32)),
    ("rgba4OpaqueBlackSwizzled", Bool(true)),
    ("resolveSrgbFormatAppliesTransferFunction", Bool(true)),
    ("resolveSrgbFormatSupportsTransferFunctionControl", Bool(false)),
    // ray tracing
    // The invocations that reorder stay where they are: those that they call are regrouped.
    (
        "rayTracingInvocationReorderReorderingHint",
        U32(vk::RayTracingInvocationReorderModeEXT::NONE.as_raw() as u32),
    ),
    // Cores by queue, and the parameters of dispatches.
    ("schedulingControlsFlags", U64(3)),
    ("schedulingControlsMaxWorkGroupBatchSize", U32(MAX_BATCH)),
    ("maxTensorDimensionCount", U32(tensor::MAX_RANK)),
    ("maxTensorElements", U64(MAX_BYTES)),
    ("maxPerDimensionTensorElements", U64(MAX_BYTES)),
    ("maxTensorStride", U64(MAX_BYTES)),
    ("maxTensorSize", U64(MAX_BYTES)),
    ("maxTensorShaderAccessArrayLength", U32(tensor::MAX_ACCESS)),
    ("maxTensorShaderAccessSize", U32(8 * tensor::MAX_ACCESS)),
    ("maxDescriptorSetStorageTensors", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorSetStorageTensors", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindStorageTensors", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindStorageTensors", U32(MAX_DESCRIPTORS)),
    ("shaderStorageTensorArrayNonUniformIndexingNative", Bool(true)),
    ("shaderTensorSupportedStages", U32(STAGES)),
    ("cooperativeMatrixSupportedStages", U32(vk::ShaderStageFlags::COMPUTE.as_raw())),
    ("cooperativeMatrixWorkgroupScopeMaxWorkgroupSize", U32(shader::options::MAX_MATRIX_WORKGROUP)),
    ("cooperativeMatrixWorkgroupScopeReservedSharedMemory", U32(shader::options::MATRIX_SHARED_BYTES)),
    ("cooperativeMatrixFlexibleDimensionsMaxDimension", U32(shader::options::MAX_MATRIX_SIDE)),
    ("cooperativeVectorSupportedStages", U32(STAGES)),
    ("cooperativeVectorTrainingFloat16Accumulation", Bool(true)),
    ("cooperativeVectorTrainingFloat32Accumulation", Bool(true)),
    ("maxCooperativeVectorComponents", U32(shader::vectors::MAX_COMPONENTS)),
    ("maxVectorComponents", U32(shader::vectors::MAX_COMPONENTS)),
    ("maxShaderBindingTableRecordIndex", U32(u32::MAX)),
    ("maxOpacity2StateSubdivisionLevel", U32(bvh::micromap::MAX_LEVEL)),
    ("maxOpacity4StateSubdivisionLevel", U32(bvh::micromap::MAX_LEVEL)),
    ("maxGeometryCount", U64(bvh::layout::MAX_GEOMETRIES)),
    ("maxInstanceCount", U64(bvh::layout::MAX_INSTANCES)),
    ("maxPrimitiveCount", U64(bvh::layout::MAX_PRIMITIVES)),
    ("maxPerStageDescriptorAccelerationStructures", U32(MAX_DESCRIPTORS)),
    ("maxPerStageDescriptorUpdateAfterBindAccelerationStructures", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetAccelerationStructures", U32(MAX_DESCRIPTORS)),
    ("maxDescriptorSetUpdateAfterBindAccelerationStructures", U32(MAX_DESCRIPTORS)),
    ("minAccelerationStructureScratchOffsetAlignment", U32(64)),
    ("shaderGroupHandleSize", U32(gpu::trace::HANDLE as u32)),
    ("maxRayRecursionDepth", U32(gpu::trace::MAX_RECURSION)),
    ("maxShaderGroupStride", U32(1 << 20)),
    ("shaderGroupBaseAlignment", U32(64)),
    ("shaderGroupHandleCaptureReplaySize", U32(8)),
    ("maxRayDispatchInvocationCount", U32(gpu::trace::MAX_RAYS)),
    ("shaderGroupHandleAlignment", U32(gpu::trace::HANDLE as u32)),
    ("maxRayHitAttributeSize", U32(gpu::trace::MAX_ATTRIBUTES as u32)),
    // other extensions
    ("maxPushDescriptors", U32(MAX_PUSH_DESCRIPTORS)),
    ("combinedImageSamplerDescriptorSingleArray", Bool(true)),
    ("bufferlessPushDescriptors", Bool(true)),
    ("allowSamplerImageViewPostSubmitCreation", Bool(true)),
    ("descriptorBufferOffsetAlignment", U64(MIN_BUFFER_OFFSET_ALIGNMENT)),
    ("maxDescriptorBufferBindings", U32(MAX_DESCRIPTOR_BUFFERS)),
    ("maxResourceDescriptorBufferBindings", U32(MAX_DESCRIPTOR_BUFFERS)),
    ("maxSamplerDescriptorBufferBindings", U32(MAX_DESCRIPTOR_BUFFERS)),
    ("maxEmbeddedImmutableSamplerBindings", U32(MAX_DESCRIPTOR_BUFFERS)),
    ("maxEmbeddedImmutableSamplers", U32(2032)),
    ("combinedImageSamplerDensityMapDescriptorSize", U64(0)),
    ("samplerDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("combinedImageSamplerDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("sampledImageDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("storageImageDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("uniformTexelBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("robustUniformTexelBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("storageTexelBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("robustStorageTexelBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("uniformBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("robustUniformBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("storageBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("robustStorageBufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("inputAttachmentDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("accelerationStructureDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("maxSamplerDescriptorBufferRange", U64(MAX_DESCRIPTOR_BUFFER_RANGE)),
    ("maxResourceDescriptorBufferRange", U64(MAX_DESCRIPTOR_BUFFER_RANGE)),
    ("samplerDescriptorBufferAddressSpaceSize", U64(MAX_DESCRIPTOR_BUFFER_RANGE)),
    ("resourceDescriptorBufferAddressSpaceSize", U64(MAX_DESCRIPTOR_BUFFER_RANGE)),
    ("descriptorBufferAddressSpaceSize", U64(MAX_DESCRIPTOR_BUFFER_RANGE)),
    ("samplerHeapAlignment", U64(DESCRIPTOR_BYTES as u64)),
    ("resourceHeapAlignment", U64(DESCRIPTOR_BYTES as u64)),
    ("maxSamplerHeapSize", U64(MAX_HEAP)),
    ("maxResourceHeapSize", U64(MAX_HEAP)),
    ("minSamplerHeapReservedRange", U64(0)),
    ("minSamplerHeapReservedRangeWithEmbedded", U64(0)),
    ("minResourceHeapReservedRange", U64(0)),
    ("imageDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("bufferDescriptorSize", U64(DESCRIPTOR_BYTES as u64)),
    ("samplerDescriptorAlignment", U64(DESCRIPTOR_BYTES as u64)),
    ("imageDescriptorAlignment", U64(DESCRIPTOR_BYTES as u64)),
    ("bufferDescriptorAlignment", U64(DESCRIPTOR_BYTES as u64)),
    ("maxPushDataSize", U64(MAX_PUSH_CONSTANTS as u64)),
    ("imageCaptureReplayOpaqueDataSize", U64(CAPTURED_BYTES as u64)),
    // They are part of the shaders' code.
    ("maxDescriptorHeapEmbeddedSamplers", U32(u32::MAX)),
    ("samplerYcbcrConversionCount", U32(1)),
    ("sparseDescriptorHeaps", Bool(SPARSE)),
    ("protectedDescriptorHeaps", Bool(false)),
    // Elements and shape.
    ("tensorDescriptorSize", U64(2 * DESCRIPTOR_BYTES as u64)),
    ("tensorDescriptorAlignment", U64(DESCRIPTOR_BYTES as u64)),
    ("tensorCaptureReplayOpaqueDataSize", U64(CAPTURED_BYTES as u64)),
    ("tensorCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("tensorViewCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("bufferCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("imageCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("imageViewCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("samplerCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("accelerationStructureCaptureReplayDescriptorDataSize", U64(CAPTURED_BYTES as u64)),
    ("defaultRobustnessStorageBuffers", U32(ROBUST_BUFFERS)),
    ("defaultRobustnessUniformBuffers", U32(ROBUST_BUFFERS)),
    ("defaultRobustnessVertexInputs", U32(ROBUST_BUFFERS)),
    ("defaultRobustnessImages", U32(ROBUST_IMAGES)),
    ("minImportedHostPointerAlignment", U64(MIN_HOST_POINTER_ALIGNMENT)),
    ("maxCustomBorderColorSamplers", U32(MAX_CUSTOM_BORDER_COLORS)),
    ("maxCommandBufferNestingLevel", U32(MAX_NESTING)),
    ("robustStorageBufferAccessSizeAlignment", U64(1)),
    ("robustUniformBufferAccessSizeAlignment", U64(1)),
    ("meshAndTaskShaderDerivatives", Bool(true)),
    ("copySrcLayoutCount", U32(HOST_COPY_LAYOUTS.len() as u32)),
    ("copyDstLayoutCount", U32(HOST_COPY_LAYOUTS.len() as u32)),
    ("optimalTilingLayoutUUID", Bytes(&LAYOUT_UUID)),
    ("identicalMemoryTypeRequirements", Bool(true)),
    ("nativeUnalignedPerformance", Bool(true)),
    ("lineSubPixelPrecisionBits", U32(8)),
    ("maxVertexAttribDivisor", U32(u32::MAX)),
    ("supportsNonZeroFirstInstance", Bool(true)),
    ("maxMultiDrawCount", U32(1 << 16)),
    ("provokingVertexModePerPipeline", Bool(true)),
    ("shaderBinaryUUID", Bytes(&CACHE_UUID)),
    ("shaderBinaryVersion", U32(SHADER_BINARY_VERSION)),
    ("transformFeedbackPreservesTriangleFanProvokingVertex", Bool(true)),
    ("maxTaskWorkGroupTotalCount", U32(MESH_GROUPS)),
    ("maxTaskWorkGroupCount", U32s(&[65535; 3])),
    ("maxTaskWorkGroupInvocations", U32(MAX_WORKGROUP_INVOCATIONS)),
    ("maxTaskWorkGroupSize", U32s(&[MAX_WORKGROUP_INVOCATIONS; 3])),
    ("maxTaskPayloadSize", U32(16384)),
    ("maxTaskSharedMemorySize", U32(MAX_SHARED_MEMORY)),
    ("maxTaskPayloadAndSharedMemorySize", U32(MAX_SHARED_MEMORY)),
    ("maxMeshWorkGroupTotalCount", U32(MESH_GROUPS)),
    ("maxMeshWorkGroupCount", U32s(&[65535; 3])),
    ("maxMeshWorkGroupInvocations", U32(MAX_WORKGROUP_INVOCATIONS)),
    ("maxMeshWorkGroupSize", U32s(&[MAX_WORKGROUP_INVOCATIONS; 3])),
    ("maxMeshSharedMemorySize", U32(MAX_SHARED_MEMORY)),
    ("maxMeshPayloadAndSharedMemorySize", U32(MAX_SHARED_MEMORY + 16384)),
    ("maxMeshOutputMemorySize", U32(32768)),
    ("maxMeshPayloadAndOutputMemorySize", U32(32768 + 16384)),
    ("maxMeshOutputComponents", U32(128)),
    ("maxMeshOutputVertices", U32(256)),
    ("maxMeshOutputPrimitives", U32(256)),
    ("maxMeshOutputLayers", U32(MAX_ARRAY_LAYERS)),
    ("maxMeshMultiviewViewCount", U32(6)),
    ("meshOutputPerVertexGranularity", U32(1)),
    ("meshOutputPerPrimitiveGranularity", U32(1)),
    ("maxPreferredTaskWorkGroupInvocations", U32(64)),
    ("maxPreferredMeshWorkGroupInvocations", U32(64)),
    ("prefersLocalInvocationVertexOutput", Bool(false)),
    ("prefersLocalInvocationPrimitiveOutput", Bool(false)),
    ("prefersCompactVertexOutput", Bool(true)),
    ("prefersCompactPrimitiveOutput", Bool(true)),
    ("maxTransformFeedbackStreams", U32(4)),
    ("maxTransformFeedbackBuffers", U32(shader::stage_io::FEEDBACK_BUFFERS as u32)),
    ("maxTransformFeedbackBufferSize", U64(u32::MAX as u64)),
    ("maxTransformFeedbackStreamDataSize", U32(512)),
    ("maxTransformFeedbackBufferDataSize", U32(512)),
    ("maxTransformFeedbackBufferDataStride", U32(2048)),
    ("transformFeedbackQueries", Bool(true)),
    ("transformFeedbackStreamsLinesTriangles", Bool(true)),
    ("transformFeedbackRasterizationStreamSelect", Bool(true)),
    ("transformFeedbackDraw", Bool(true)),
    ("dynamicPrimitiveTopologyUnrestricted", Bool(true)),
    ("numMetrics", U32(machine::instrumentation::METRICS as u32)),
    ("allowCommandBufferQueryCopies", Bool(true)),
    ("maxPerRegionPerformanceCounters", U32(regions::MAX_COUNTERS)),
    ("performanceCounterRegionSize", U32s(&[regions::REGION; 2])),
    ("rowStrideAlignment", U32(regions::ROW_ALIGNMENT)),
    ("regionAlignment", U32(regions::REGION_ALIGNMENT)),
    ("renderPassStripeGranularity", U32s(&[regions::REGION; 2])),
    ("maxRenderPassStripes", U32(64)),
    // VK_EXT_sample_locations: whatever was drawn to an image has no say in later locations.
    ("sampleLocationSampleCounts", U32(SAMPLE_COUNTS.as_raw() & !1)),
    ("maxSampleLocationGridSize", U32s(&[1; 2])),
    ("sampleLocationCoordinateRange", F32s(&[0.0, 0.9375])),
    ("sampleLocationSubPixelBits", U32(4)),
    ("variableSampleLocations", Bool(true)),
    // VK_EXT_blend_operation_advanced
    ("advancedBlendMaxColorAttachments", U32(MAX_COLORS as u32)),
    ("advancedBlendIndependentBlend", Bool(true)),
    ("advancedBlendNonPremultipliedSrcColor", Bool(true)),
    ("advancedBlendNonPremultipliedDstColor", Bool(true)),
    ("advancedBlendCorrelatedOverlap", Bool(true)),
    ("advancedBlendAllOperations", Bool(true)),
    // VK_KHR_fragment_shading_rate: tests are those of pixels, so nothing depends on samples but what shaders do with them.
    ("minFragmentShadingRateAttachmentTexelSize", U32s(&[RATE_TEXEL[0]; 2])),
    ("maxFragmentShadingRateAttachmentTexelSize", U32s(&[RATE_TEXEL[1]; 2])),
    ("maxFragmentShadingRateAttachmentTexelSizeAspectRatio", U32(RATE_TEXEL[1] / RATE_TEXEL[0])),
    ("primitiveFragmentShadingRateWithMultipleViewports", Bool(true)),
    ("layeredShadingRateAttachments", Bool(true)),
    ("fragmentShadingRateNonTrivialCombinerOps", Bool(true)),
    ("maxFragmentSize", U32s(&[MAX_FRAGMENT; 2])),
    ("maxFragmentSizeAspectRatio", U32(MAX_FRAGMENT)),
    ("maxFragmentShadingRateCoverageSamples", U32(MAX_FRAGMENT * MAX_FRAGMENT * 16)),
    ("maxFragmentShadingRateRasterizationSamples", U32(vk::SampleCountFlags::TYPE_16.as_raw())),
    ("fragmentShadingRateWithShaderDepthStencilWrites", Bool(false)),
    ("fragmentShadingRateWithSampleMask", Bool(true)),
    ("fragmentShadingRateWithShaderSampleMask", Bool(false)),
    ("fragmentShadingRateWithConservativeRasterization", Bool(false)),
    ("fragmentShadingRateWithFragmentShaderInterlock", Bool(false)),
    ("fragmentShadingRateWithCustomSampleLocations", Bool(false)),
    ("fragmentShadingRateStrictMultiplyCombiner", Bool(true)),
    // VK_EXT_fragment_density_map, 2, _offset and VK_VALVE_fragment_density_map_layered: subsampled images hold all pixels.
    ("minFragmentDensityTexelSize", U32s(&[RATE_TEXEL[0]; 2])),
    ("maxFragmentDensityTexelSize", U32s(&[RATE_TEXEL[1]; 2])),
    ("fragmentDensityInvocations", Bool(false)),
    ("subsampledLoads", Bool(true)),
    ("subsampledCoarseReconstructionEarlyAccess", Bool(false)),
    ("maxSubsampledArrayLayers", U32(MAX_ARRAY_LAYERS)),
    ("maxDescriptorSetSubsampledSamplers", U32(MAX_DESCRIPTORS)),
    ("fragmentDensityOffsetGranularity", U32s(&[RATE_TEXEL[0]; 2])),
    ("maxFragmentDensityMapLayers", U32(MAX_ARRAY_LAYERS)),
    // VK_EXT_conservative_rasterization
    ("primitiveOverestimationSize", F32(0.0)),
    ("maxExtraPrimitiveOverestimationSize", F32(MAX_OVERESTIMATION)),
    ("extraPrimitiveOverestimationSizeGranularity", F32(1.0 / 256.0)),
    ("primitiveUnderestimation", Bool(true)),
    ("conservativePointAndLineRasterization", Bool(true)),
    ("degenerateTrianglesRasterized", Bool(false)),
    ("degenerateLinesRasterized", Bool(false)),
    ("fullyCoveredFragmentShaderInputVariable", Bool(true)),
    ("conservativeRasterizationPostDepthCoverage", Bool(true)),
    ("shaderTileImageCoherentReadAccelerated", Bool(true)),
    ("shaderTileImageReadSampleFromPixelRateInvocation", Bool(true)),
    ("shaderTileImageReadFromHelperInvocation", Bool(true)),
    ("triStripVertexOrderIndependentOfProvokingVertex", Bool(false)),
    ("graphicsPipelineLibraryFastLinking", Bool(true)),
    ("graphicsPipelineLibraryIndependentInterpolationDecoration", Bool(true)),
];

/// Lengths of lists, which are filled in the two-call way by [`fill`].
const LISTS: [&str; 2] = ["copySrcLayoutCount", "copyDstLayoutCount"];

/// Dot products that are one operation ([`shader::ir::Bin::SDot4`]).
const DOT_PRODUCTS: [&str; 3] = [
    "integerDotProduct4x8BitPackedUnsignedAccelerated",
    "integerDotProduct4x8BitPackedSignedAccelerated",
    "integerDotProduct4x8BitPackedMixedSignednessAccelerated",
];

/// The value of a member of a property structure. Other dot products than [`DOT_PRODUCTS`] are not faster than their parts.
pub(crate) fn value(name: &str) -> Option<Value> {
    static MAP: OnceLock<HashMap<&'static str, Value>> = OnceLock::new();
    let map = MAP.get_or_init(|| LIMITS.iter().chain(PROPERTIES).copied().collect());
    map.get(name)
        .copied()
        .or_else(|| set(name))
        .or_else(|| modelled(name))
        .or_else(|| name.starts_with("integerDotProduct").then(|| Bool(DOT_PRODUCTS.contains(&name))))
}

/// With the modelled class: the model's name up to its comma.
static DEVICE_NAME: LazyLock<String> = LazyLock::new(|| {
    let name = &counters::model::current().name;
    format!("Tuff (software GPU, {})", name.split(',').next().unwrap_or(name))
});

/// What the settings decide.
fn set(name: &str) -> Option<Value> {
    let settings = settings::get();
    match name {
        "deviceType" => Some(U32(settings.device_type as u32)),
        "conformanceVersion" => Some(Bytes(&settings.conformance)),
        "perBasicBlockGranularity" => Some(Bool(!settings.interfaces.whole_shaders)),
        "identityTransformOrder" => Some(Bool(!settings.interfaces.rotated_regions)),
        _ => None,
    }
}

/// What the modelled GPU says of itself (VK_ARM_shader_core_properties, _builtins): rates of one core and
/// cycle, cores and warps.
fn modelled(name: &str) -> Option<Value> {
    let model = counters::model::current();
    let core = &model.core;
    let v = match name {
        "pixelRate" => core.pixels,
        "texelRate" => core.texels,
        "fmaRate" => core.fma_lanes,
        "shaderCoreCount" => model.cores,
        "shaderWarpsPerCore"
        | "schedulingControlsMaxWarpsCount"
        | "schedulingControlsMaxQueuedBatchesCount" => core.warps,
        "deviceName" => return Some(Str(&DEVICE_NAME)),
        // A bit each, as far as there are bits; a model has a core at least.
        "shaderCoreMask" => return Some(U64(u64::MAX >> (64 - model.cores.clamp(1, 64)))),
        _ => return None,
    };
    Some(U32(v as u32))
}

fn structure(s_type: vk::StructureType) -> Option<&'static PropertyStruct> {
    static MAP: OnceLock<HashMap<i32, &'static PropertyStruct>> = OnceLock::new();
    let map = MAP.get_or_init(|| {
        PROPERTY_STRUCTS.iter().filter(|s| known(s.core, s.extensions)).map(|s| (s.s_type, s)).collect()
    });
    map.get(&s_type.as_raw()).copied()
}

/// vkGetPhysicalDeviceProperties2: fills `properties` and each structure of its chain that the device knows.
pub(crate) fn fill(properties: &mut Fill<vk::PhysicalDeviceProperties2>) {
    let core = (&raw mut properties.properties).cast();
    for m in CORE_PROPERTIES {
        if let Some(v) = value(m.name) {
            // SAFETY: VkPhysicalDeviceProperties has these members.
            unsafe { v.write(core, m) };
        }
    }
    // The application asks for these lists in two calls, so their counts are no plain properties.
    if let Some(mut p) = properties.find::<vk::PhysicalDeviceHostImageCopyProperties>() {
        let _ = p.copy_src_layouts().fill(&HOST_COPY_LAYOUTS);
        let _ = p.copy_dst_layouts().fill(&HOST_COPY_LAYOUTS);
    }
    if let Some(mut p) = properties.find::<vk::PhysicalDeviceVulkan14Properties>() {
        let _ = p.copy_src_layouts().fill(&HOST_COPY_LAYOUTS);
        let _ = p.copy_dst_layouts().fill(&HOST_COPY_LAYOUTS);
    }
    for s in properties.chain() {
        // SAFETY: `sType` says what structure it is, and so which members it has.
        unsafe {
            for m in structure((*s).s_type).map_or(&[][..], |known| known.members) {
                if let Some(v) = value(m.name).filter(|_| !LISTS.contains(&m.name)) {
                    v.write(s.cast(), m);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_member_has_a_value_that_fits_and_every_value_a_member() {
        let mut members = HashSet::new();
        let known = PROPERTY_STRUCTS.iter().filter(|s| known(s.core, s.extensions));
        for m in CORE_PROPERTIES.iter().chain(known.flat_map(|s| s.members)) {
            let Some(v) = value(m.name) else { panic!("{} has no value", m.name) };
            assert!(v.fits(m), "{} is {:?}x{}, not {v:?}", m.name, m.kind, m.count);
            members.insert(m.name);
        }
        let mut seen = HashSet::new();
        for (name, _) in LIMITS.iter().chain(PROPERTIES) {
            assert!(members.contains(name), "{name} is in no structure the device knows");
            assert!(seen.insert(name), "{name} twice");
        }
    }

    #[test]
    fn the_layout_is_that_of_the_c_structures() {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
        let mut all = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut v11)
            .push_next(&mut v12)
            .push_next(&mut v13);
        fill(&mut unsafe { Fill::new(&mut all) });
        let p = all.properties;
        assert_eq!(p.api_version, API_VERSION);
        assert_eq!(p.device_type, vk::PhysicalDeviceType::CPU);
        assert_eq!(p.limits.non_coherent_atom_size, 64);
        assert_eq!(p.limits.max_compute_work_group_size, [1024; 3]);
        assert_eq!(p.limits.viewport_bounds_range, [-32768.0, 32767.0]);
        assert_eq!(v11.max_memory_allocation_size, MAX_ALLOCATION);
        assert_eq!(v13.max_buffer_size, MAX_ALLOCATION);
        assert_eq!(v13.min_subgroup_size, 16);
        // Nobody has submitted Tuff to Khronos.
        let v = v12.conformance_version;
        assert_eq!([v.major, v.minor, v.subminor, v.patch], [0; 4]);
    }
}
