//! Capabilities that the engine has; a module that declares another is unsupported.

use super::Builder;
use crate::options::Result;
use crate::spirv::*;

impl Builder<'_> {
    pub(crate) fn check_capabilities(&self) -> Result<()> {
        for &c in &self.m.capabilities {
            match Capability::from_u32(c) {
                Some(k) if supported(k) => {}
                Some(k) => return Err(unsupported(format!("capability {k:?}"))),
                None => return Err(unsupported(format!("capability {c}"))),
            }
        }
        if !matches!(self.m.addressing, 0 | 5348) {
            return Err(unsupported(format!("addressing model {}", self.m.addressing)));
        }
        Ok(())
    }
}

fn supported(c: Capability) -> bool {
    use Capability::*;
    matches!(
        c,
        Matrix
            | Shader
            | CoreBuiltinsARM
            | Float16
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
    )
}
