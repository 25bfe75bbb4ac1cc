//! VkShaderInstrumentationARM (VK_ARM_shader_instrumentation, § Shader Instrumentation).

use crate::base::answer::{created, invalid};
use crate::base::chain;
use crate::base::given::{Call, Doomed, In, List, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::physical_device::PhysicalDevice;
use machine::instrumentation::{Instrumentation, METRIC, METRICS, Told};
use std::ffi::c_void;
use std::sync::Arc;

pub struct ShaderInstrumentation {
    pub(crate) gpu: Arc<Instrumentation>,
}

impl Object for ShaderInstrumentation {
    type Handle = vk::ShaderInstrumentationARM;
}

/// VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM
pub(crate) const INSTRUMENT_SHADERS: vk::PipelineCreateFlags2 = vk::PipelineCreateFlags2::from_raw(1 << 39);

pub(crate) fn enumerate_physical_device_shader_instrumentation_metrics_arm(
    _: &PhysicalDevice,
    out: List<vk::ShaderInstrumentationMetricDescriptionARM>,
) -> vk::Result {
    out.fill_with(METRICS, |mut o, i| {
        chain::write_str(&mut o.name, METRIC[i].0);
        chain::write_str(&mut o.description, METRIC[i].1);
    })
}

pub(crate) fn create_shader_instrumentation_arm(
    _: &Device,
    _: In<vk::ShaderInstrumentationCreateInfoARM>,
    out: Out<vk::ShaderInstrumentationARM>,
) -> vk::Result {
    let settings::Interfaces { whole_shaders, merged_stages, .. } = settings::get().interfaces;
    let gpu = Arc::new(Instrumentation::new(Told { whole_shaders, merged_stages }));
    created(out, Ok(ShaderInstrumentation { gpu }))
}

/// Recorded commands keep what they write to, so destroying early (VUID 12374) only loses the values.
pub(crate) fn destroy_shader_instrumentation_arm(_: &Device, instrumentation: Doomed<ShaderInstrumentation>) {
    instrumentation.destroy();
}

pub(crate) unsafe fn get_shader_instrumentation_values_arm(
    device: &Device,
    instrumentation: vk::ShaderInstrumentationARM,
    count: &mut u32,
    out: *mut c_void,
    flags: vk::ShaderInstrumentationValuesFlagsARM,
) -> vk::Result {
    let Some(i) = device.object::<ShaderInstrumentation>(instrumentation) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    if !flags.is_empty() {
        return invalid(&format!(
            "vkGetShaderInstrumentationValuesARM: flags {flags:?} are reserved (VUID-vkGetShaderInstrumentationValuesARM-flags-zerobitmask)"
        ));
    }
    if device.hub().is_lost() {
        // The call has no code for it, so it returns what was measured until then.
        crate::base::debug::log_error(
            "vkGetShaderInstrumentationValuesARM: the device is lost, the values are incomplete",
        );
    }
    if out.is_null() {
        *count = i.gpu.len() as u32;
        return vk::Result::SUCCESS;
    }
    let (rows, all) = i.gpu.values(*count as usize);
    let mut at = out.cast::<u8>();
    for (key, values) in &rows {
        // A header of four words, then the values, tightly packed; the application's pointer may have any alignment.
        let header = [key.result, key.sub, key.stages, key.block];
        // SAFETY: the application has room for the rows that it asked for.
        unsafe {
            at.cast::<[u32; 4]>().write_unaligned(header);
            at = at.add(size_of_val(&header));
            at.cast::<[u64; METRICS]>().write_unaligned(*values);
            at = at.add(size_of_val(values));
        }
    }
    *count = rows.len() as u32;
    if all { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE }
}

pub(crate) fn clear_shader_instrumentation_metrics_arm(
    device: &Device,
    instrumentation: vk::ShaderInstrumentationARM,
) {
    if let Some(i) = device.object::<ShaderInstrumentation>(instrumentation) {
        i.gpu.clear();
    }
}
