//! Features: the one table of what is on, the writer that fills every feature structure from it, and the check of
//! what an application enables.

use crate::base::given::{Fill, In, array};
use crate::instance::extensions;
use crate::instance::generated::structs::{CORE_FEATURES, FEATURE_STRUCTS};
use crate::instance::physical_device;
use crate::instance::physical_device::{SPARSE, core_of};
use crate::instance::structs::{FEATURES_AT, FeatureStruct};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Every feature that the device has, by the name of its member; a name means the same in all structures.
#[rustfmt::skip]
pub(crate) const FEATURES: &[&str] = &[
    // Vulkan 1.0
    "robustBufferAccess", "imageCubeArray", "samplerAnisotropy", "textureCompressionETC2",
    "textureCompressionASTC_LDR", "textureCompressionASTC_HDR", "formatRgba10x6WithoutYCbCrSampler", "textureCompressionBC", "pipelineStatisticsQuery", "inheritedQueries",
    "shaderImageGatherExtended",
    "shaderStorageImageExtendedFormats", "shaderStorageImageMultisample", "shaderStorageImageReadWithoutFormat",
    "shaderStorageImageWriteWithoutFormat", "shaderUniformBufferArrayDynamicIndexing",
    "shaderSampledImageArrayDynamicIndexing", "shaderStorageBufferArrayDynamicIndexing",
    "shaderStorageImageArrayDynamicIndexing", "shaderFloat64", "shaderInt64", "shaderInt16", "shaderResourceMinLod",
    "fullDrawIndexUint32", "independentBlend", "sampleRateShading", "dualSrcBlend", "logicOp", "multiDrawIndirect",
    "drawIndirectFirstInstance", "depthClamp", "depthBiasClamp", "fillModeNonSolid", "depthBounds", "wideLines",
    "largePoints", "alphaToOne", "multiViewport", "sparseBinding", "sparseResidencyBuffer", "sparseResidencyImage2D",
    "sparseResidencyImage3D", "sparseResidency2Samples", "sparseResidency4Samples", "sparseResidency8Samples",
    "sparseResidency16Samples", "sparseResidencyAliased", "shaderResourceResidency", "geometryShader", "tessellationShader",
    "shaderTessellationAndGeometryPointSize", "occlusionQueryPrecise", "vertexPipelineStoresAndAtomics",
    "fragmentStoresAndAtomics", "shaderClipDistance", "shaderCullDistance", "variableMultisampleRate",
    // Vulkan 1.1
    "storageBuffer16BitAccess", "uniformAndStorageBuffer16BitAccess", "storagePushConstant16", "storageInputOutput16", "multiview", "multiviewGeometryShader",
    "multiviewTessellationShader",
    "samplerYcbcrConversion", "variablePointersStorageBuffer", "variablePointers", "shaderDrawParameters",
    // Vulkan 1.2
    "samplerMirrorClampToEdge", "drawIndirectCount", "storageBuffer8BitAccess", "uniformAndStorageBuffer8BitAccess",
    "storagePushConstant8", "shaderBufferInt64Atomics", "shaderSharedInt64Atomics", "shaderFloat16", "shaderInt8",
    "descriptorIndexing", "shaderInputAttachmentArrayDynamicIndexing",
    "shaderUniformTexelBufferArrayDynamicIndexing", "shaderStorageTexelBufferArrayDynamicIndexing",
    "shaderUniformBufferArrayNonUniformIndexing", "shaderSampledImageArrayNonUniformIndexing",
    "shaderStorageBufferArrayNonUniformIndexing", "shaderStorageImageArrayNonUniformIndexing",
    "shaderInputAttachmentArrayNonUniformIndexing", "shaderUniformTexelBufferArrayNonUniformIndexing",
    "shaderStorageTexelBufferArrayNonUniformIndexing", "descriptorBindingUniformBufferUpdateAfterBind",
    "descriptorBindingSampledImageUpdateAfterBind", "descriptorBindingStorageImageUpdateAfterBind",
    "descriptorBindingStorageBufferUpdateAfterBind", "descriptorBindingUniformTexelBufferUpdateAfterBind",
    "descriptorBindingStorageTexelBufferUpdateAfterBind", "descriptorBindingUpdateUnusedWhilePending",
    "descriptorBindingPartiallyBound", "descriptorBindingVariableDescriptorCount", "runtimeDescriptorArray",
    "samplerFilterMinmax", "scalarBlockLayout", "imagelessFramebuffer", "uniformBufferStandardLayout",
    "shaderSubgroupExtendedTypes", "separateDepthStencilLayouts", "hostQueryReset", "timelineSemaphore",
    "bufferDeviceAddress", "bufferDeviceAddressCaptureReplay", "vulkanMemoryModel", "vulkanMemoryModelDeviceScope",
    "vulkanMemoryModelAvailabilityVisibilityChains", "shaderOutputViewportIndex", "shaderOutputLayer",
    "subgroupBroadcastDynamicId",
    // Vulkan 1.3
    "robustImageAccess", "inlineUniformBlock", "descriptorBindingInlineUniformBlockUpdateAfterBind",
    "pipelineCreationCacheControl", "privateData", "shaderDemoteToHelperInvocation", "shaderTerminateInvocation",
    "subgroupSizeControl", "computeFullSubgroups", "synchronization2", "shaderZeroInitializeWorkgroupMemory",
    "dynamicRendering", "shaderIntegerDotProduct", "maintenance4",
    // promoted to 1.3 as extensions' features
    "ycbcr2plane444Formats", "formatA4R4G4B4", "formatA4B4G4R4", "extendedDynamicState", "extendedDynamicState2", "texelBufferAlignment",
    // promoted to 1.4
    "globalPriorityQuery", "pipelineRobustness", "pipelineProtectedAccess", "protectedMemory", "maintenance5", "maintenance6", "maintenance7", "maintenance8", "shaderExpectAssume",
    "shaderFloatControls2", "shaderSubgroupRotate", "shaderSubgroupRotateClustered",
    "indexTypeUint8", "vertexAttributeInstanceRateDivisor", "vertexAttributeInstanceRateZeroDivisor",
    "rectangularLines", "bresenhamLines", "smoothLines", "stippledRectangularLines", "stippledBresenhamLines",
    "stippledSmoothLines", "dynamicRenderingLocalRead", "hostImageCopy", "pushDescriptor", "maintenance9", "maintenance10",
    // graphics
    "taskShader", "meshShader", "multiviewMeshShader", "meshShaderQueries",
    "transformFeedback", "geometryStreams", "primitivesGeneratedQuery", "primitivesGeneratedQueryWithRasterizerDiscard",
    "primitivesGeneratedQueryWithNonZeroStreams", "primitiveTopologyPatchListRestart", "extendedDynamicState2PatchControlPoints",
    "extendedDynamicState3TessellationDomainOrigin", "extendedDynamicState3RasterizationStream", "transformFeedbackPreservesProvokingVertex",
    "extendedDynamicState2LogicOp", "attachmentFeedbackLoopLayout", "attachmentFeedbackLoopDynamicState",
    "colorWriteEnable", "pipelineFragmentShadingRate", "primitiveFragmentShadingRateMeshShader", "primitiveFragmentShadingRate", "attachmentFragmentShadingRate", "fragmentDensityMap", "fragmentDensityMapDynamic", "fragmentDensityMapNonSubsampledImages",
    "fragmentDensityMapDeferred", "fragmentDensityMapOffset", "fragmentDensityMapLayered", "conditionalRendering", "deviceFault", "deviceAddressCommands", "indirectMemoryCopy",
    "indirectMemoryToImageCopy", "shaderReplicatedComposites", "pipelineBinaries", "deviceGeneratedCommands", "dynamicGeneratedPipelineLayout", "shaderUntypedPointers", "shaderBFloat16Type", "shaderBFloat16DotProduct", "shaderBFloat16CooperativeMatrix", "shaderFloat8", "shaderFloat8CooperativeMatrix",
    "cooperativeMatrix", "cooperativeMatrixRobustBufferAccess", "cooperativeMatrixConversions", "cooperativeMatrixPerElementOperations", "cooperativeMatrixReductions", "cooperativeMatrixTensorAddressing", "cooperativeMatrixBlockLoads", "cooperativeMatrixFlexibleDimensions", "cooperativeMatrixWorkgroupScope", "cooperativeVector", "cooperativeVectorTraining", "longVector", "dataGraph", "dataGraphNeuralAcceleratorStatistics", "dataGraphOpticalFlow", "dataGraphUpdateAfterBind", "dataGraphSpecializationConstants", "dataGraphDescriptorBuffer", "dataGraphShaderModule", "formatPack", "shaderFmaFloat16", "shaderFmaFloat32", "imageCompressionControlSwapchain", "pipelinePropertiesIdentifier", "shaderModuleIdentifier", "schedulingControls", "descriptorBufferTensorDescriptors", "tensors", "tensorNonPacked", "shaderTensorAccess", "shaderStorageTensorArrayDynamicIndexing", "shaderStorageTensorArrayNonUniformIndexing", "descriptorBindingStorageTensorUpdateAfterBind", "imageCompressionControl", "reportAddressBinding", "shaderQuadControl", "maintenance11", "inheritedConditionalRendering", "depthClampControl",
    "depthClampZeroOne", "primitiveRestartIndex", "vertexAttributeRobustness", "depthBiasControl", "leastRepresentableValueForceUnormRepresentation", "floatRepresentation",
    "depthBiasExact", "depthClipControl", "depthClipEnable", "dynamicRenderingUnusedAttachments",
    "extendedDynamicState3DepthClampEnable", "extendedDynamicState3PolygonMode",
    "extendedDynamicState3RasterizationSamples", "extendedDynamicState3SampleMask",
    "extendedDynamicState3AlphaToCoverageEnable", "extendedDynamicState3AlphaToOneEnable",
    "extendedDynamicState3LogicOpEnable", "extendedDynamicState3ColorBlendEnable",
    "extendedDynamicState3ColorBlendEquation", "extendedDynamicState3ColorWriteMask",
    "extendedDynamicState3DepthClipEnable", "extendedDynamicState3ProvokingVertexMode",
    "extendedDynamicState3LineRasterizationMode", "extendedDynamicState3LineStippleEnable",
    "extendedDynamicState3DepthClipNegativeOneToOne", "extendedDynamicState3ColorBlendAdvanced",
    "extendedDynamicState3SampleLocationsEnable", "extendedDynamicState3ConservativeRasterizationMode",
    "extendedDynamicState3ExtraPrimitiveOverestimationSize", "advancedBlendCoherentOperations",
    "fragmentShaderBarycentric", "fragmentShaderSampleInterlock", "fragmentShaderPixelInterlock",
    "shaderTileImageColorReadAccess", "shaderTileImageDepthReadAccess", "shaderTileImageStencilReadAccess",
    "graphicsPipelineLibrary", "multiDraw", "multisampledRenderToSingleSampled", "multisampledRenderToSwapchain",
    "primitiveTopologyListRestart", "provokingVertexLast", "rasterizationOrderColorAttachmentAccess",
    "rasterizationOrderDepthAttachmentAccess", "rasterizationOrderStencilAttachmentAccess",
    "shaderObject", "vertexInputDynamicState", "legacyVertexAttributes",
    // memory, descriptors, images, pipelines
    "memoryPriority", "zeroInitializeDeviceMemory", "internallySynchronizedQueues", "minLod", "unifiedImageLayouts", "pageableDeviceLocalMemory", "ycbcrImageArrays", "borderColorSwizzle", "borderColorSwizzleFromImage", "customBorderColors",
    "customBorderColorWithoutFormat", "nonSeamlessCubeMap", "image2DViewOf3D", "sampler2DViewOf3D", "imageSlicedViewOf3D", "mutableDescriptorType",
    "descriptorHeap", "descriptorHeapCaptureReplay", "descriptorBuffer", "descriptorBufferCaptureReplay", "descriptorBufferImageLayoutIgnored", "descriptorBufferPushDescriptors",
    "nestedCommandBuffer", "nestedCommandBufferRendering", "nestedCommandBufferSimultaneousUse", "robustBufferAccess2", "robustImageAccess2",
    "nullDescriptor", "pipelineExecutableInfo",
    // counters
    "performanceCounterQueryPools", "performanceCounterMultipleQueryPools", "performanceCountersByRegion", "renderPassStriped", "subpassMergeFeedback",
    "shaderCoreBuiltins", "frameBoundary",
    // presentation
    "presentId", "presentWait", "swapchainMaintenance1",
    // shaders
    "shaderBufferFloat32Atomics", "shaderBufferFloat32AtomicAdd", "shaderBufferFloat64Atomics",
    "shaderBufferFloat64AtomicAdd", "shaderSharedFloat32Atomics", "shaderSharedFloat32AtomicAdd",
    "shaderSharedFloat64Atomics", "shaderSharedFloat64AtomicAdd", "shaderImageFloat32Atomics",
    "shaderImageFloat32AtomicAdd", "shaderBufferFloat16Atomics", "shaderBufferFloat16AtomicAdd",
    "shaderBufferFloat16AtomicMinMax", "shaderBufferFloat32AtomicMinMax", "shaderBufferFloat64AtomicMinMax",
    "shaderSharedFloat16Atomics", "shaderSharedFloat16AtomicAdd", "shaderSharedFloat16AtomicMinMax",
    "shaderSharedFloat32AtomicMinMax", "shaderSharedFloat64AtomicMinMax", "shaderImageFloat32AtomicMinMax",
    "shaderImageInt64Atomics", "sparseImageFloat32Atomics", "sparseImageFloat32AtomicAdd",
    "sparseImageFloat32AtomicMinMax", "sparseImageInt64Atomics", "computeDerivativeGroupQuads", "computeDerivativeGroupLinear", "shaderSubgroupClock",
    "shaderDeviceClock", "shaderMaximalReconvergence", "shaderRelaxedExtendedInstruction",
    "shaderSubgroupUniformControlFlow", "workgroupMemoryExplicitLayout",
    "workgroupMemoryExplicitLayoutScalarBlockLayout", "workgroupMemoryExplicitLayout8BitAccess",
    "workgroupMemoryExplicitLayout16BitAccess",
    // measuring
    "shaderInstrumentation",
];

/// Of devices that trace rays: [`extensions::rays`].
#[rustfmt::skip]
const RAY_FEATURES: &[&str] = &[
    "accelerationStructure", "accelerationStructureIndirectBuild", "accelerationStructureHostCommands",
    "descriptorBindingAccelerationStructureUpdateAfterBind", "accelerationStructureCaptureReplay", "rayQuery", "rayTracingPositionFetch",
    "rayTracingPipeline", "rayTracingPipelineShaderGroupHandleCaptureReplay", "rayTracingPipelineShaderGroupHandleCaptureReplayMixed",
    "rayTracingPipelineTraceRaysIndirect", "rayTraversalPrimitiveCulling", "rayTracingMaintenance1", "rayTracingPipelineTraceRaysIndirect2",
    "pipelineLibraryGroupHandles", "micromap", "micromapCaptureReplay", "micromapHostCommands", "pipelineOpacityMicromap", "rayTracingInvocationReorder",
];

/// Whether a feature is one of [sparse resources](SPARSE).
fn is_of_sparse(name: &str) -> bool {
    name.starts_with("sparse") || name == "shaderResourceResidency"
}

/// Whether the device has the feature of this name.
pub(crate) fn has(name: &str) -> bool {
    static SET: OnceLock<HashSet<&'static str>> = OnceLock::new();
    SET.get_or_init(|| {
        let of_rays = RAY_FEATURES.iter().filter(|_| extensions::rays());
        FEATURES.iter().chain(of_rays).copied().filter(|f| SPARSE || !is_of_sparse(f)).collect()
    })
    .contains(name)
}

/// Whether a structure that `core` or one of `names` defines is the device's to read and fill.
pub(crate) fn known(core: u32, names: &[&str]) -> bool {
    (core != 0 && core <= core_of(physical_device::API_VERSION))
        || names.iter().any(|n| extensions::is_reported(n))
}

fn structure(s_type: vk::StructureType) -> Option<&'static FeatureStruct> {
    static MAP: OnceLock<HashMap<i32, &'static FeatureStruct>> = OnceLock::new();
    let map = MAP.get_or_init(|| {
        FEATURE_STRUCTS.iter().filter(|s| known(s.core, s.extensions)).map(|s| (s.s_type, s)).collect()
    });
    map.get(&s_type.as_raw()).copied()
}

/// vkGetPhysicalDeviceFeatures2: fills `features` and each structure of its chain that the device knows.
pub(crate) fn fill(features: &mut Fill<vk::PhysicalDeviceFeatures2>) {
    // SAFETY: VkPhysicalDeviceFeatures consists of these members.
    unsafe { write((&raw mut features.features).cast(), CORE_FEATURES) };
    for s in features.chain() {
        // SAFETY: a structure that has these members after `sType` and `pNext`.
        unsafe {
            if let Some(known) = structure((*s).s_type) {
                write(s.cast::<u8>().add(FEATURES_AT).cast(), known.members);
            }
        }
    }
}

/// # Safety
/// There are as many members at `at` as names.
unsafe fn write(at: *mut vk::Bool32, names: &[&str]) {
    for (i, name) in names.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { at.add(i).write(has(name).into()) };
    }
}

/// What a device was created with.
#[derive(Default, Debug, Clone)]
pub(crate) struct Enabled(HashSet<&'static str>);

impl Enabled {
    /// Whether the application enabled the feature of this name.
    #[allow(dead_code)] // graphics will ask
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

fn read(on: &mut Enabled, given: &[vk::Bool32], names: &[&'static str], of: &str) -> Result<(), String> {
    for (name, _) in names.iter().zip(given).filter(|(_, given)| **given != vk::FALSE) {
        if !has(name) {
            return Err(format!("{of} enables {name}, which the device does not have"));
        }
        on.0.insert(name);
    }
    Ok(())
}

/// The features that `info` enables, or a line saying which of them the device does not have.
pub(crate) fn enabled(info: In<vk::DeviceCreateInfo>) -> Result<Enabled, String> {
    let mut on = Enabled::default();
    if let Some(core) = info.enabled_features() {
        // SAFETY: VkPhysicalDeviceFeatures consists of these members.
        let given = unsafe { array((&raw const *core).cast(), CORE_FEATURES.len()) };
        read(&mut on, given, CORE_FEATURES, "VkPhysicalDeviceFeatures")?;
    }
    for s in info.chain() {
        let (members, name) = match s.s_type {
            vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => (CORE_FEATURES, "VkPhysicalDeviceFeatures2"),
            other => match structure(other) {
                Some(known) => (known.members, known.name),
                None => continue,
            },
        };
        // SAFETY: a structure that has these members after `sType` and `pNext`.
        let given = unsafe { array((&raw const *s).cast::<u8>().add(FEATURES_AT).cast(), members.len()) };
        read(&mut on, given, members, name)?;
    }
    Ok(on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::extensions::EXTENSIONS;
    use crate::instance::generated::extensions::{PROMOTED, REQUIRED_FEATURES};

    #[test]
    fn every_feature_is_a_member_of_a_known_structure_once() {
        let mut names: HashSet<&str> = CORE_FEATURES.iter().copied().collect();
        for s in FEATURE_STRUCTS.iter().filter(|s| known(s.core, s.extensions)) {
            names.extend(s.members);
        }
        let mut seen = HashSet::new();
        for f in FEATURES.iter().chain(RAY_FEATURES) {
            assert!(names.contains(f), "{f} is in no structure the device knows");
            assert!(seen.insert(f), "{f} twice");
        }
    }

    #[test]
    fn extensions_have_the_features_they_promise() {
        for (name, features) in REQUIRED_FEATURES {
            for f in *features {
                assert!(f.split(',').any(has), "{name} needs {f}");
            }
        }
    }

    #[test]
    fn promoted_extensions_are_listed() {
        // Of other systems, or of features the device does not have.
        let absent = |n: &str| n.contains("win32") || n.starts_with("VK_AMD_");
        for name in PROMOTED {
            let listed = EXTENSIONS.iter().any(|e| e.name.to_bytes() == name.as_bytes());
            assert!(listed || absent(name), "{name} is not listed");
        }
    }
}
