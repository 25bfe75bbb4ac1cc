//! Programs that set the layer up, that know nothing of what it needs, or that end without a word.

use super::Done;
use super::bare::Bare;
use ash::vk;

const NONE: vk::CommandBufferUsageFlags = vk::CommandBufferUsageFlags::empty();

/// A program of Vulkan 1.0, one of 1.1, and one of 1.2 that leaves timeline semaphores off.
pub fn old() -> Done {
    for version in [vk::API_VERSION_1_0, vk::API_VERSION_1_1, vk::API_VERSION_1_2] {
        let b = Bare::open(version, false, None)?;
        let c = b.fills(NONE, &[4096])?;
        b.submit(0, &[c], &[], &[])?;
        b.close(&[])?;
    }
    Ok(())
}

/// VK_EXT_layer_settings: the JSON file that TUFF_TEST_JSON names, without a table.
pub fn settings() -> Done {
    let path = std::env::var("TUFF_TEST_JSON").map_err(|e| e.to_string())?;
    let path = std::ffi::CString::new(path).map_err(|e| e.to_string())?;
    let (path, table, no) = ([path.as_ptr()], [c"off".as_ptr()], [vk::FALSE]);
    let layer = c"VK_LAYER_TUFF_gpu_performance";
    let setting = |name, ty, values: *const std::ffi::c_void| {
        let mut s = vk::LayerSettingEXT::default().layer_name(layer).setting_name(name).ty(ty);
        (s.value_count, s.p_values) = (1, values);
        s
    };
    let list = [
        setting(c"json", vk::LayerSettingTypeEXT::STRING, path.as_ptr().cast()),
        setting(c"table", vk::LayerSettingTypeEXT::STRING, table.as_ptr().cast()),
        setting(c"serialise", vk::LayerSettingTypeEXT::BOOL32, no.as_ptr().cast()),
    ];
    let mut info = vk::LayerSettingsCreateInfoEXT::default().settings(&list);
    let name = ash::ext::layer_settings::NAME;
    let b = Bare::open(vk::API_VERSION_1_3, true, Some((&mut info, name)))?;
    let c = b.fills(NONE, &[4096, 8192])?;
    b.submit(0, &[c], &[], &[])?;
    b.close(&[])
}

/// Ends the process with everything still alive.
pub fn unfinished() -> Done {
    let b = Bare::open(vk::API_VERSION_1_3, true, None)?;
    let c = b.fills(NONE, &[4096])?;
    b.submit(0, &[c], &[], &[])?;
    b.idle()?;
    std::mem::forget(b);
    Ok(())
}
