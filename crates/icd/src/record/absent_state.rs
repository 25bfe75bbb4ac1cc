//! Dynamic state of extensions that the device does not have. Programs find these commands with VK_EXT_shader_object and
//! VK_EXT_extended_dynamic_state3 alone, for both once had them without a condition; what they set is in no draw.

use crate::record::command_buffer::CommandBuffer;

macro_rules! nothing {
    ($($name:ident($($ty:ty),*);)*) => {$(
        pub(crate) fn $name(b: &CommandBuffer, $(_: $ty),*) {
            b.recording();
        }
    )*};
}

nothing! {
    cmd_set_viewport_w_scaling_enable_nv(vk::Bool32);
    cmd_set_viewport_swizzle_nv(u32, &[vk::ViewportSwizzleNV]);
    cmd_set_coverage_to_color_enable_nv(vk::Bool32);
    cmd_set_coverage_to_color_location_nv(u32);
    cmd_set_coverage_modulation_mode_nv(vk::CoverageModulationModeNV);
    cmd_set_coverage_modulation_table_enable_nv(vk::Bool32);
    cmd_set_coverage_modulation_table_nv(&[f32]);
    cmd_set_shading_rate_image_enable_nv(vk::Bool32);
    cmd_set_representative_fragment_test_enable_nv(vk::Bool32);
    cmd_set_coverage_reduction_mode_nv(vk::CoverageReductionModeNV);
}
