//! What queue families can do with data graphs (VK_ARM_data_graph, VK_ARM_data_graph_instruction_set_tosa).

use crate::base::answer::invalid;
use crate::base::chain;
use crate::base::given::{Fill, In, List};
use crate::instance::physical_device::{PhysicalDevice, family};
use vk::PhysicalDeviceDataGraphOperationTypeARM as Operation;
use vk::PhysicalDeviceDataGraphProcessingEngineTypeARM as Engine;

/// The one instruction set of graphs.
const INSTRUCTION_SET: &str = "TOSA.001000.1";

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
    out.fill_with(graphs(family_index) as usize, |mut o, _| {
        o.engine = ENGINE;
        o.operation.operation_type = Operation::SPIRV_EXTENDED_INSTRUCTION_SET;
        chain::write_str(&mut o.operation.name, INSTRUCTION_SET);
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
