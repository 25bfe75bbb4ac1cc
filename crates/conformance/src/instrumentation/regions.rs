//! VK_ARM_performance_counters_by_region: values of each 64 × 64 region, worked out from geometry.
//!
//! Warps are blocks of 4 × 4 pixels, a full one 16 threads; where one triangle covers everything, a region of w × h
//! pixels has ⌈w/4⌉ · ⌈h/4⌉ of them. Values lie 32 bytes from region to region (up to eight counters), rows aligned to
//! what the device says.

use super::{Check, Found, Rig, holds, same, text};
use client::Buffer;
use client::graphics::{Attachment, ImageInfo, Load, Pass, over};
use std::ffi::{CStr, c_char};

/// Stable ids of libGPUCounters.
const WARPS: u32 = 214;
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

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "region_counters_are_listed", run: listed },
        Check { name: "regions_of_a_triangle", run: triangle },
        Check { name: "regions_of_overdraw", run: overdraw },
        Check { name: "regions_of_views", run: views },
    ]
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

/// A buffer with a device address, of so many words that are none of the values.
fn values(rig: &Rig, words: usize) -> Result<Buffer, String> {
    let mut out = Buffer::addressed(&rig.context, words * 4, Default::default()).map_err(text)?;
    out.words_mut().fill(FREE);
    Ok(out)
}

/// Words from row to row of regions.
fn row(rig: &Rig, regions: usize) -> Result<usize, String> {
    let mut p = vk::PhysicalDevicePerformanceCountersByRegionPropertiesARM::default();
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut p).cast(), ..Default::default() };
    // SAFETY: a valid chain.
    unsafe { rig.context.instance.get_physical_device_properties2(rig.context.physical, &mut all) };
    let size = p.performance_counter_region_size;
    same("regions", (size.width, size.height), (64, 64))?;
    same("counters at once", p.max_per_region_performance_counters, 8)?;
    same("alignment", (p.region_alignment, p.identity_transform_order), (32, vk::TRUE))?;
    Ok((regions * 32).next_multiple_of(p.row_stride_alignment.max(1) as usize) / 4)
}

/// What a pass asks for.
fn ask<'a>(
    addresses: &'a [u64],
    ids: &'a mut [u32],
) -> vk::RenderPassPerformanceCountersByRegionBeginInfoARM<'a> {
    vk::RenderPassPerformanceCountersByRegionBeginInfoARM {
        counter_address_count: addresses.len() as u32,
        p_counter_addresses: addresses.as_ptr(),
        serialize_regions: vk::TRUE,
        counter_index_count: ids.len() as u32,
        p_counter_indices: ids.as_mut_ptr(),
        ..Default::default()
    }
}

/// 160 × 100 pixels: regions of 64, 64 and 32 columns, 64 and 36 rows. Values in the order of the ids, no others
/// written.
fn triangle(rig: &Rig) -> Found {
    let pitch = row(rig, 3)?;
    let out = values(rig, 2 * pitch + 16)?;
    let target = rig.image(ImageInfo::colour(FORMAT, [160, 100]))?;
    let p = rig.pipeline(|i| i.flags2 = Default::default())?;
    let (addresses, mut ids) = ([out.address()], [THREADS, WARPS, PRIMITIVES, QUADS]);
    let asked = ask(&addresses, &mut ids);
    let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
    let pass = Pass { colours, size: [160, 100], chain: (&raw const asked).cast(), ..Default::default() };
    rig.run(|d, c| {
        pass.record(d, c, |d, c| {
            p.bind(c, None, &super::graphics::push(0.5, 1.0));
            // SAFETY: recording with everything bound.
            unsafe { d.cmd_draw(c, 3, 1, 0, 0) }
        });
    })?;
    for (y, h) in [64, 36].into_iter().enumerate() {
        for (x, w) in [64u32, 64, 32].into_iter().enumerate() {
            let got = &out.words()[y * pitch + x * 8..][..8];
            let want = [w * h, w * h / 16, 1, w * h / 4, FREE, FREE, FREE, FREE];
            same(&format!("region {x}, {y}"), got, &want)?;
        }
    }
    holds("nothing behind the rows", out.words()[2 * pitch..].iter().all(|&w| w == FREE))?;
    Ok(out.words().iter().map(|&w| w.into()).collect())
}

/// 128 × 64 pixels; a second opaque draw over the right region hides what the first drew there, a blended one over the
/// left does not.
fn overdraw(rig: &Rig) -> Found {
    let out = values(rig, 32)?;
    let target = rig.image(ImageInfo::colour(FORMAT, [128, 64]))?;
    let opaque = rig.pipeline(|i| i.flags2 = Default::default())?;
    let blended = rig.pipeline(|i| {
        i.flags2 = Default::default();
        i.blend = over();
    })?;
    let (addresses, mut ids) = ([out.address()], [WARPS, QUADS, SHADED, HIDDEN, OCCLUDING, PRIMITIVES]);
    let asked = ask(&addresses, &mut ids);
    let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
    let pass = Pass { colours, size: [128, 64], chain: (&raw const asked).cast(), ..Default::default() };
    let half =
        |x| vk::Rect2D { offset: vk::Offset2D { x, y: 0 }, extent: vk::Extent2D { width: 64, height: 64 } };
    rig.run(|d, c| {
        // SAFETY: recording with everything bound.
        pass.record(d, c, |d, c| unsafe {
            opaque.bind(c, None, &super::graphics::push(0.5, 1.0));
            d.cmd_draw(c, 3, 1, 0, 0);
            d.cmd_set_scissor(c, 0, &[half(64)]);
            d.cmd_draw(c, 3, 1, 0, 0);
            blended.bind(c, None, &super::graphics::push(0.5, 1.0));
            d.cmd_set_scissor(c, 0, &[half(0)]);
            d.cmd_draw(c, 3, 1, 0, 0);
        });
    })?;
    // 1024 quads cover a region. Left: an opaque draw and a blended one, both shaded. Right: two opaque ones, of which
    // only the later is.
    same("left", &out.words()[..6], &[512, 2048, 2048, 0, 1024, 2])?;
    same("right", &out.words()[8..14], &[256, 2048, 1024, 1024, 2048, 2])?;
    Ok(out.words().iter().map(|&w| w.into()).collect())
}

/// Views 0 and 2 of three, the address between them 0; view 2's lies behind view 0's in one buffer.
fn views(rig: &Rig) -> Found {
    let out = values(rig, 64)?;
    let target = rig.image(ImageInfo { layers: 3, ..ImageInfo::colour(FORMAT, [64, 64]) })?;
    let p = rig.pipeline(|i| {
        i.flags2 = Default::default();
        i.view_mask = 0b101;
    })?;
    let (addresses, mut ids) = ([out.address(), 0, out.address() + 64], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
    let chain = (&raw const asked).cast();
    let pass = Pass { colours, size: [64, 64], view_mask: 0b101, chain, ..Default::default() };
    rig.run(|d, c| {
        pass.record(d, c, |d, c| {
            p.bind(c, None, &super::graphics::push(0.5, 1.0));
            // SAFETY: recording with everything bound.
            unsafe { d.cmd_draw(c, 3, 1, 0, 0) }
        });
    })?;
    let mut want = vec![FREE; 64];
    (want[0], want[16]) = (256, 256);
    same("both views", out.words(), &want[..])?;
    Ok(vec![256, 256])
}
