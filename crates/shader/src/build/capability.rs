//! Capabilities that the engine has; a module that declares another is unsupported. Which of them a device reports is
//! the host's to say: it asks [`Module::capabilities`].

use super::Builder;
use crate::options::Result;
use crate::spirv::*;

impl Builder<'_> {
    pub(crate) fn check_capabilities(&self) -> Result<()> {
        if let Some(&c) = self.m.capabilities.iter().find(|c| !engine_has(**c)) {
            return Err(unsupported(format!("capability {}", name(c))));
        }
        if !matches!(self.m.addressing, 0 | 5348) {
            return Err(unsupported(format!("addressing model {}", self.m.addressing)));
        }
        Ok(())
    }
}

/// The number of a capability's name. The headers may have a promoted capability by its older name only.
pub fn number(name: &str) -> Option<u32> {
    let older = name.strip_suffix("KHR").map(|n| format!("{n}EXT"));
    let names = std::iter::once(name).chain(older.as_deref());
    names.filter_map(|n| n.parse::<Capability>().ok()).map(|c| c as u32).next()
}

/// The name of a number, or the number.
pub fn name(number: u32) -> String {
    Capability::from_u32(number).map_or_else(|| number.to_string(), |c| format!("{c:?}"))
}

/// Whether the engine does what modules that declare the capability may ask for.
pub fn engine_has(number: u32) -> bool {
    Capability::from_u32(number).is_some_and(supported)
}

fn supported(c: Capability) -> bool {
    use Capability::*;
    matches!(
        c,
        Matrix
            | Shader
            | CoreBuiltinsARM
            | Float16
            | BFloat16TypeKHR
            | BFloat16DotProductKHR
            | BFloat16CooperativeMatrixKHR
            | Float8CooperativeMatrixEXT
            | CooperativeMatrixKHR
            | CooperativeVectorNV
            | LongVectorEXT
            | CooperativeVectorTrainingNV
            | FMAKHR
            | TensorsARM
            | GraphARM
            | StorageTensorArrayDynamicIndexingARM
            | StorageTensorArrayNonUniformIndexingARM
            | CooperativeMatrixConversionsNV
            | CooperativeMatrixPerElementOperationsNV
            | CooperativeMatrixReductionsNV
            | CooperativeMatrixTensorAddressingNV
            | CooperativeMatrixBlockLoadsNV
            | TensorAddressingNV
            | Float8EXT
            | UntypedPointersKHR
            | DescriptorHeapEXT
            | Float64
            | Int8
            | Int16
            | Int64
            | Int64Atomics
            | ImageBasic
            | Groups
            | AtomicStorage
            | ImageGatherExtended
            | StorageImageMultisample
            | UniformBufferArrayDynamicIndexing
            | SampledImageArrayDynamicIndexing
            | StorageBufferArrayDynamicIndexing
            | StorageImageArrayDynamicIndexing
            | ImageCubeArray
            | ImageRect
            | SampledRect
            | InputAttachment
            | SparseResidency
            | MinLod
            | Sampled1D
            | Image1D
            | SampledCubeArray
            | SampledBuffer
            | ImageBuffer
            | ImageMSArray
            | StorageImageExtendedFormats
            | ImageQuery
            | DerivativeControl
            | InterpolationFunction
            | SampleRateShading
            | ClipDistance
            | CullDistance
            | Geometry
            | GeometryPointSize
            | GeometryStreams
            | MeshShadingEXT
            | Tessellation
            | TessellationPointSize
            | MultiViewport
            | TransformFeedback
            | StorageImageReadWithoutFormat
            | StorageImageWriteWithoutFormat
            | GroupNonUniform
            | GroupNonUniformVote
            | GroupNonUniformArithmetic
            | GroupNonUniformBallot
            | GroupNonUniformShuffle
            | GroupNonUniformShuffleRelative
            | GroupNonUniformClustered
            | GroupNonUniformQuad
            | GroupNonUniformRotateKHR
            | ShaderLayer
            | ShaderViewportIndex
            | ShaderViewportIndexLayerEXT
            | SampleMaskPostDepthCoverage
            | FragmentBarycentricKHR
            | FragmentShadingRateKHR
            | FragmentDensityEXT
            | TileImageColorReadAccessEXT
            | TileImageDepthReadAccessEXT
            | TileImageStencilReadAccessEXT
            | FragmentFullyCoveredEXT
            | FragmentShaderSampleInterlockEXT
            | FragmentShaderPixelInterlockEXT
            | StencilExportEXT
            | UniformDecoration
            | SubgroupBallotKHR
            | SubgroupVoteKHR
            | DrawParameters
            | StorageBuffer16BitAccess
            | UniformAndStorageBuffer16BitAccess
            | StoragePushConstant16
            | StorageInputOutput16
            | DeviceGroup
            | MultiView
            | VariablePointersStorageBuffer
            | VariablePointers
            | StorageBuffer8BitAccess
            | UniformAndStorageBuffer8BitAccess
            | StoragePushConstant8
            | DenormPreserve
            | DenormFlushToZero
            | SignedZeroInfNanPreserve
            | RoundingModeRTE
            | RoundingModeRTZ
            | Int64ImageEXT
            | ShaderClockKHR
            | QuadControlKHR
            | ComputeDerivativeGroupQuadsKHR
            | ComputeDerivativeGroupLinearKHR
            | ShaderNonUniform
            | RuntimeDescriptorArray
            | InputAttachmentArrayDynamicIndexing
            | UniformTexelBufferArrayDynamicIndexing
            | StorageTexelBufferArrayDynamicIndexing
            | UniformBufferArrayNonUniformIndexing
            | SampledImageArrayNonUniformIndexing
            | StorageBufferArrayNonUniformIndexing
            | StorageImageArrayNonUniformIndexing
            | InputAttachmentArrayNonUniformIndexing
            | UniformTexelBufferArrayNonUniformIndexing
            | StorageTexelBufferArrayNonUniformIndexing
            | VulkanMemoryModel
            | VulkanMemoryModelDeviceScope
            | PhysicalStorageBufferAddresses
            | DemoteToHelperInvocation
            | WorkgroupMemoryExplicitLayoutKHR
            | WorkgroupMemoryExplicitLayout8BitAccessKHR
            | WorkgroupMemoryExplicitLayout16BitAccessKHR
            | DotProduct
            | DotProductInputAll
            | DotProductInput4x8Bit
            | DotProductInput4x8BitPacked
            | AtomicFloat16AddEXT
            | AtomicFloat32AddEXT
            | AtomicFloat64AddEXT
            | AtomicFloat16MinMaxEXT
            | AtomicFloat32MinMaxEXT
            | AtomicFloat64MinMaxEXT
            | ExpectAssumeKHR
            | FloatControls2
            | ReplicatedCompositesEXT
            | RayQueryKHR
            | RayQueryPositionFetchKHR
            | RayTraversalPrimitiveCullingKHR
            | RayTracingKHR
            | RayTracingPositionFetchKHR
            | RayCullMaskKHR
            | RayTracingOpacityMicromapEXT
            | ShaderInvocationReorderEXT
    )
}
