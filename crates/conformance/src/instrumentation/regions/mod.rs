//! VK_ARM_performance_counters_by_region: values of each 64 × 64 region, worked out from geometry.
//!
//! Warps are blocks of 4 × 4 pixels, a full one 16 threads; where one triangle covers everything, a region of w × h
//! pixels has ⌈w/4⌉ · ⌈h/4⌉ of them. Values lie 32 bytes from region to region (up to eight counters), rows aligned to
//! what the device says.

mod dynamic;
mod misuse;
mod passes;
pub(super) mod target;

use super::{Check, Found, Rig, check_list, holds, same};
use std::ffi::{CStr, c_char};

/// Stable ids of libGPUCounters.
pub(super) const WARPS: u32 = 214;
const THREADS: u32 = 65572;
const PRIMITIVES: u32 = 211;
const QUADS: u32 = 216;
const OCCLUDING: u32 = 225;
/// Tuff's own: quads shaded, and hidden by later ones.
const SHADED: u32 = 0x1000_0000 + 32;
const HIDDEN: u32 = 0x1000_0000 + 33;
/// What no value is.
const FREE: u32 = 0xeeee_eeee;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Draws all of the target, in the layer that its push constant says.
const LAYER: &[u8] = include_bytes!("../../../shaders/instrumentation/layer.vert.spv");

/// Threads, warps, primitives and quads of one triangle over 160 × 100 pixels: regions of 64, 64 and 32 columns, 64 and
/// 36 rows; 16 threads are a warp, and four a quad; a primitive counts in each tile of 32 × 32 pixels.
const TRIANGLE: [[u32; 4]; 6] = [
    [64 * 64, 256, 4, 1024],
    [64 * 64, 256, 4, 1024],
    [32 * 64, 128, 2, 512],
    [64 * 36, 144, 4, 576],
    [64 * 36, 144, 4, 576],
    [32 * 36, 72, 2, 288],
];

/// Records [`LAYER`]'s triangle, cut to `part`.
fn to_layer(
    d: &ash::Device,
    c: vk::CommandBuffer,
    p: &client::graphics::Pipeline,
    layer: u32,
    part: vk::Rect2D,
) {
    p.bind(c, None, &[layer, 0].map(u32::to_le_bytes).concat());
    // SAFETY: recording within a pass, with everything bound.
    unsafe {
        d.cmd_set_scissor(c, 0, &[part]);
        d.cmd_draw(c, 3, 1, 0, 0);
    }
}

pub fn checks() -> Vec<Check> {
    let mut all = check_list![region_counters_are_listed = listed];
    all.extend(dynamic::checks());
    all.extend(passes::checks());
    all.extend(misuse::checks());
    all
}

type Enumerate = unsafe extern "system" fn(
    vk::PhysicalDevice,
    u32,
    *mut u32,
    *mut vk::PerformanceCounterARM<'_>,
    *mut vk::PerformanceCounterDescriptionARM<'_>,
) -> vk::Result;

fn listed(rig: &Rig) -> Found {
    let name = c"vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM";
    let f = rig.context.instance_function(name).ok_or("no enumeration command")?;
    // SAFETY: the type that vk.xml gives the command; arrays of the length that it said.
    let (ids, names) = unsafe {
        let f = std::mem::transmute::<unsafe extern "system" fn(), Enumerate>(f);
        let (mut n, null) = (0, std::ptr::null_mut());
        same("count", f(rig.context.physical, 0, &mut n, null, std::ptr::null_mut()), vk::Result::SUCCESS)?;
        let mut ids = vec![vk::PerformanceCounterARM::default(); n as usize];
        let mut texts = vec![vk::PerformanceCounterDescriptionARM::default(); n as usize];
        let mut few = 1;
        let r = f(rig.context.physical, 0, &mut few, ids.as_mut_ptr(), texts.as_mut_ptr());
        same("a short array", (r, few), (vk::Result::INCOMPLETE, 1))?;
        same("nothing beyond it", ids[1].counter_id, 0)?;
        let r = f(rig.context.physical, 0, &mut n, ids.as_mut_ptr(), texts.as_mut_ptr());
        same("all", r, vk::Result::SUCCESS)?;
        let text = |t: &vk::PerformanceCounterDescriptionARM| {
            CStr::from_ptr(t.name.as_ptr().cast::<c_char>()).to_string_lossy().into_owned()
        };
        let names: Vec<_> = texts.iter().map(text).collect();
        (ids.iter().map(|c| c.counter_id).collect::<Vec<_>>(), names)
    };
    let at = names.iter().position(|n| n == "Fragment warps").ok_or("no \"Fragment warps\"")?;
    same("its id", ids[at], WARPS)?;
    for id in [THREADS, PRIMITIVES, QUADS, OCCLUDING, SHADED, HIDDEN] {
        holds(&format!("{id} is listed"), ids.contains(&id))?;
    }
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    same("ids differ", sorted.len(), ids.len())?;
    Ok(ids.iter().map(|&i| i.into()).collect())
}
