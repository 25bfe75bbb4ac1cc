//! VkShaderInstrumentationARM (VK_ARM_shader_instrumentation, § Shader Instrumentation).

use crate::base::answer::{created, invalid};
use crate::base::chain;
use crate::base::object::{self, Object};
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

pub(crate) unsafe fn enumerate_physical_device_shader_instrumentation_metrics_arm(
    _: &PhysicalDevice,
    count: *mut u32,
    out: *mut vk::ShaderInstrumentationMetricDescriptionARM,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        chain::fill_with(METRICS, count, out, |o, i| {
            chain::write_str(&mut o.name, METRIC[i].0);
            chain::write_str(&mut o.description, METRIC[i].1);
        })
    }
}

pub(crate) unsafe fn create_shader_instrumentation_arm(
    _: &Device,
    _: *const vk::ShaderInstrumentationCreateInfoARM,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::ShaderInstrumentationARM,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let settings::Interfaces { whole_shaders, merged_stages, .. } = settings::get().interfaces;
        let gpu = Arc::new(Instrumentation::new(Told { whole_shaders, merged_stages }));
        created(out, Ok(ShaderInstrumentation { gpu }))
    }
}

/// Recorded commands keep what they write to, so destroying early (VUID 12374) only loses the values.
pub(crate) unsafe fn destroy_shader_instrumentation_arm(
    _: &Device,
    instrumentation: vk::ShaderInstrumentationARM,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<ShaderInstrumentation>(instrumentation);
    }
}

pub(crate) unsafe fn get_shader_instrumentation_values_arm(
    device: &Device,
    instrumentation: vk::ShaderInstrumentationARM,
    count: *mut u32,
    out: *mut c_void,
    flags: vk::ShaderInstrumentationValuesFlagsARM,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(i) = object::get::<ShaderInstrumentation>(instrumentation) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        if !flags.is_empty() {
            return invalid(&format!(
                "vkGetShaderInstrumentationValuesARM: flags {flags:?} are reserved (VUID-vkGetShaderInstrumentationValuesARM-flags-zerobitmask)"
            ));
        }
        if device.hub().is_lost() {
            // Not among the call's codes: what was measured until then is told.
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
            at.cast::<[u32; 4]>().write_unaligned(header);
            at = at.add(size_of_val(&header));
            at.cast::<[u64; METRICS]>().write_unaligned(*values);
            at = at.add(size_of_val(values));
        }
        *count = rows.len() as u32;
        if all { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE }
    }
}

pub(crate) unsafe fn clear_shader_instrumentation_metrics_arm(
    _: &Device,
    instrumentation: vk::ShaderInstrumentationARM,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let Some(i) = object::get::<ShaderInstrumentation>(instrumentation) {
            i.gpu.clear();
        }
    }
}
