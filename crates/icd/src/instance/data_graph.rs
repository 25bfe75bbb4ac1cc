//! What queue families can do with data graphs (VK_ARM_data_graph, VK_ARM_data_graph_instruction_set_tosa, VK_ARM_data_graph_optical_flow).

use crate::base::answer::invalid;
use crate::base::chain;
use crate::base::given::{Fill, In, List};
use crate::instance::physical_device::{PhysicalDevice, family};
use gpu::graphs::flow::{COSTS, IMAGES, VECTORS};
use vk::PhysicalDeviceDataGraphOperationTypeARM as Operation;
use vk::PhysicalDeviceDataGraphProcessingEngineTypeARM as Engine;

/// The one instruction set of graphs.
const INSTRUCTION_SET: &str = "TOSA.001000.1";

const OPTICAL_FLOW: &str = "OpticalFlow";

/// Widths and heights of images of optical flow.
pub(crate) const FLOW_SIZES: std::ops::RangeInclusive<u32> = 8..=8192;

/// What of TOSA 1.0 there is. Conformance has not been tested, so nothing is said to conform.
const PROFILES: [&str; 2] = ["PRO-INT", "PRO-FP"];
const EXTENSIONS: [&str; 7] =
    ["EXT-INT16", "EXT-BF16", "EXT-FP8E4M3", "EXT-FP8E5M2", "EXT-FFT", "EXT-DOUBLEROUND", "EXT-INEXACTROUND"];

/// The only engine: the GPU itself.
const ENGINE: vk::PhysicalDeviceDataGraphProcessingEngineARM =
    vk::PhysicalDeviceDataGraphProcessingEngineARM { ty: Engine::DEFAULT, is_foreign: vk::FALSE };

/// Whether an engine that an application names is there.
pub(crate) fn has_engine(e: &vk::PhysicalDeviceDataGraphProcessingEngineARM) -> bool {
    (e.ty, e.is_foreign) == (ENGINE.ty, ENGINE.is_foreign)
}

fn graphs(family_index: u32) -> bool {
    family(family_index).is_some_and(|f| f.flags.contains(vk::QUEUE_DATA_GRAPH_BIT_ARM))
}

pub(crate) fn get_physical_device_queue_family_data_graph_properties_arm(
    _: &PhysicalDevice,
    family_index: u32,
    out: List<vk::QueueFamilyDataGraphPropertiesARM>,
) -> vk::Result {
    const OPERATIONS: [(Operation, &str); 2] = [
        (Operation::SPIRV_EXTENDED_INSTRUCTION_SET, INSTRUCTION_SET),
        (Operation::OPTICAL_FLOW, OPTICAL_FLOW),
    ];
    let count = if graphs(family_index) { OPERATIONS.len() } else { 0 };
    out.fill_with(count, |mut o, i| {
        o.engine = ENGINE;
        o.operation.operation_type = OPERATIONS[i].0;
        chain::write_str(&mut o.operation.name, OPERATIONS[i].1);
        o.operation.version = 1;
    })
}

pub(crate) fn get_physical_device_queue_family_data_graph_processing_engine_properties_arm(
    _: &PhysicalDevice,
    _: In<vk::PhysicalDeviceQueueFamilyDataGraphProcessingEngineInfoARM>,
    mut out: Fill<vk::QueueFamilyDataGraphProcessingEnginePropertiesARM>,
) {
    // Only foreign engines need handles.
    out.foreign_semaphore_handle_types = Default::default();
    out.foreign_memory_handle_types = Default::default();
}

fn named(name: &str) -> vk::DataGraphTOSANameQualityARM {
    let mut n = vk::DataGraphTOSANameQualityARM::default();
    chain::write_str(&mut n.name, name);
    n.quality_flags = vk::DataGraphTOSAQualityFlagsARM::ACCELERATED;
    n
}

/// # Safety
/// `out` is null or a structure with the type that it says.
pub(crate) unsafe fn get_physical_device_queue_family_data_graph_engine_operation_properties_arm(
    _: &PhysicalDevice,
    family_index: u32,
    of: In<vk::QueueFamilyDataGraphPropertiesARM>,
    out: *mut vk::BaseOutStructure,
) -> vk::Result {
    static ALL: std::sync::OnceLock<[Vec<vk::DataGraphTOSANameQualityARM>; 2]> = std::sync::OnceLock::new();
    if !graphs(family_index) || !has_engine(&of.engine) {
        return invalid(
            "vkGetPhysicalDeviceQueueFamilyDataGraphEngineOperationPropertiesARM: there is no such engine",
        );
    }
    let [profiles, extensions] =
        ALL.get_or_init(|| [PROFILES.map(named).to_vec(), EXTENSIONS.map(named).to_vec()]);
    // SAFETY: a structure, or null, as the caller says.
    let ty = unsafe { out.as_ref() }.map(|o| o.s_type);
    if ty == Some(<vk::QueueFamilyDataGraphOpticalFlowPropertiesARM as vk::TaggedStructure>::STRUCTURE_TYPE) {
        // SAFETY: of that type.
        let out = unsafe { &mut *out.cast::<vk::QueueFamilyDataGraphOpticalFlowPropertiesARM>() };
        let all = vk::DataGraphOpticalFlowGridSizeFlagsARM::from_raw(0xf);
        (out.supported_output_grid_sizes, out.supported_hint_grid_sizes) = (all, all);
        (out.hint_supported, out.cost_supported) = (vk::TRUE, vk::TRUE);
        (out.min_width, out.min_height) = (*FLOW_SIZES.start(), *FLOW_SIZES.start());
        (out.max_width, out.max_height) = (*FLOW_SIZES.end(), *FLOW_SIZES.end());
        return vk::Result::SUCCESS;
    }
    if ty != Some(<vk::QueueFamilyDataGraphTOSAPropertiesARM as vk::TaggedStructure>::STRUCTURE_TYPE) {
        return vk::Result::SUCCESS;
    }
    // SAFETY: of that type.
    let out = unsafe { &mut *out.cast::<vk::QueueFamilyDataGraphTOSAPropertiesARM>() };
    out.profile_count = profiles.len() as u32;
    out.p_profiles = profiles.as_ptr();
    out.extension_count = extensions.len() as u32;
    out.p_extensions = extensions.as_ptr();
    out.level = vk::DataGraphTOSALevelARM::TYPE_8K;
    vk::Result::SUCCESS
}

/// Formats of optical flow that have all of these usages.
pub(crate) fn flow_formats(usage: vk::DataGraphOpticalFlowImageUsageFlagsARM) -> Vec<vk::Format> {
    use vk::DataGraphOpticalFlowImageUsageFlagsARM as Usage;
    let vectors = Usage::from_raw(Usage::OUTPUT.as_raw() | Usage::HINT.as_raw());
    let all = IMAGES.into_iter().map(|f| (f, Usage::INPUT)).chain([(VECTORS, vectors), (COSTS, Usage::COST)]);
    all.filter(|(_, has)| has.contains(usage) && !usage.is_empty()).map(|f| f.0).collect()
}

pub(crate) fn get_physical_device_queue_family_data_graph_optical_flow_image_formats_arm(
    _: &PhysicalDevice,
    family_index: u32,
    of: In<vk::QueueFamilyDataGraphPropertiesARM>,
    info: In<vk::DataGraphOpticalFlowImageFormatInfoARM>,
    out: List<vk::DataGraphOpticalFlowImageFormatPropertiesARM>,
) -> vk::Result {
    if !graphs(family_index)
        || !has_engine(&of.engine)
        || of.operation.operation_type != Operation::OPTICAL_FLOW
    {
        return invalid(
            "vkGetPhysicalDeviceQueueFamilyDataGraphOpticalFlowImageFormatsARM: no engine and operation of optical flow",
        );
    }
    let formats = flow_formats(info.usage);
    out.fill_with(formats.len(), |mut o, i| o.format = formats[i])
}
