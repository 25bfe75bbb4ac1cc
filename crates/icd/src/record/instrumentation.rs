//! Where the metrics of instrumented shaders go (VK_ARM_shader_instrumentation).

use super::command_buffer::CommandBuffer;
use crate::base::given::Call;
use crate::device::instrumentation::ShaderInstrumentation;

pub(crate) fn cmd_begin_shader_instrumentation_arm(
    b: &CommandBuffer,
    instrumentation: vk::ShaderInstrumentationARM,
) {
    let Some(i) = b.object::<ShaderInstrumentation>(instrumentation) else { return };
    let Some(mut r) = b.recording() else { return };
    if r.instrumentation.is_some() {
        crate::base::debug::log_error(
            "vkCmdBeginShaderInstrumentationARM while instrumentation is active (VUID 12375): the first object stays",
        );
        return;
    }
    r.instrumentation = Some(i.gpu.clone());
}

pub(crate) fn cmd_end_shader_instrumentation_arm(b: &CommandBuffer) {
    let Some(mut r) = b.recording() else { return };
    if r.instrumentation.take().is_none() {
        crate::base::debug::log_error(
            "vkCmdEndShaderInstrumentationARM while no instrumentation is active (VUID 12377)",
        );
    }
}
