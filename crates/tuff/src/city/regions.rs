//! The cores' cycles of each region of a render pass, as the driver counts them (VK_ARM_performance_counters_by_region).

use client::{Buffer, Context, Error, Library, Result};
use std::ffi::{CStr, c_char};
use std::rc::Rc;

const EXTENSION: &CStr = c"VK_ARM_performance_counters_by_region";
const COMMAND: &CStr = c"vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM";
/// The counter, as drivers of Mali GPUs call it.
pub const COUNTER: &str = "Main phase active cycles";

type Enumerate = unsafe extern "system" fn(
    vk::PhysicalDevice,
    u32,
    *mut u32,
    *mut vk::PerformanceCounterARM<'_>,
    *mut vk::PerformanceCounterDescriptionARM<'_>,
) -> vk::Result;

/// A device of the environment's driver that counts by region; `None` if the driver does not.
pub fn context() -> Result<Option<Rc<Context>>> {
    let plain = Context::with(Library::any()?)?;
    if !plain.extensions().iter().any(|e| e.as_str() == EXTENSION.to_string_lossy()) {
        return Ok(None);
    }
    let mut feature = vk::PhysicalDevicePerformanceCountersByRegionFeaturesARM {
        performance_counters_by_region: vk::TRUE,
        ..Default::default()
    };
    Context::extended(Library::any()?, &[EXTENSION], (&raw mut feature).cast()).map(Some)
}

/// Where a pass puts what it counts of each region.
pub struct Regions {
    buffer: Buffer,
    address: [u64; 1],
    counter: [u32; 1],
    /// Regions across and down; bytes from one to the next.
    size: [usize; 2],
    stride: usize,
    pitch: usize,
}

impl Regions {
    /// For a pass over so many pixels.
    pub fn new(context: &Rc<Context>, size: [u32; 2], side: u32) -> Result<Regions> {
        let mut p = vk::PhysicalDevicePerformanceCountersByRegionPropertiesARM::default();
        let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut p).cast(), ..Default::default() };
        // SAFETY: a valid chain, of a live device.
        unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
        let region = p.performance_counter_region_size;
        if (region.width, region.height, p.identity_transform_order) != (side, side, vk::TRUE) {
            return Err(Error(format!("regions of {}×{}, not {side}×{side}", region.width, region.height)));
        }
        // § VkRenderPassPerformanceCountersByRegionBeginInfoARM: a word a counter, regions and rows aligned.
        let size = size.map(|s| s.div_ceil(side) as usize);
        let stride = 4usize.next_multiple_of(p.region_alignment as usize);
        let pitch = (size[0] * stride).next_multiple_of(p.row_stride_alignment as usize);
        let buffer = Buffer::addressed(context, pitch * size[1], Default::default())?;
        Ok(Regions { address: [buffer.address()], buffer, counter: [counter(context)?], size, stride, pitch })
    }

    /// For the chain of the pass's begin.
    pub fn asked(&mut self) -> vk::RenderPassPerformanceCountersByRegionBeginInfoARM<'_> {
        vk::RenderPassPerformanceCountersByRegionBeginInfoARM {
            counter_address_count: 1,
            p_counter_addresses: self.address.as_ptr(),
            counter_index_count: 1,
            p_counter_indices: self.counter.as_mut_ptr(),
            ..Default::default()
        }
    }

    /// Row by row.
    pub fn counts(&self) -> Vec<u32> {
        let [across, down] = self.size;
        let at = |i: usize| i / across * self.pitch + i % across * self.stride;
        (0..across * down).map(|i| self.buffer.words()[at(i) / 4]).collect()
    }
}

/// The counter's number.
fn counter(context: &Context) -> Result<u32> {
    let f = context.instance_function(COMMAND).ok_or_else(|| Error(format!("no {COMMAND:?}")))?;
    // SAFETY: the type that vk.xml gives the command; arrays of the length that it said.
    let (counters, texts) = unsafe {
        let f = std::mem::transmute::<unsafe extern "system" fn(), Enumerate>(f);
        let (mut n, null) = (0, std::ptr::null_mut());
        // What it says beside the number is no error: the arrays come next.
        let _ = f(context.physical, 0, &mut n, null, std::ptr::null_mut());
        let mut counters = vec![vk::PerformanceCounterARM::default(); n as usize];
        let mut texts = vec![vk::PerformanceCounterDescriptionARM::default(); n as usize];
        match f(context.physical, 0, &mut n, counters.as_mut_ptr(), texts.as_mut_ptr()) {
            vk::Result::SUCCESS => (counters, texts),
            e => return Err(Error(format!("{COMMAND:?}: {e}"))),
        }
    };
    // SAFETY: names end with a zero.
    let name = |t: &vk::PerformanceCounterDescriptionARM| unsafe {
        CStr::from_ptr(t.name.as_ptr().cast::<c_char>()).to_string_lossy().into_owned()
    };
    let at = texts.iter().position(|t| name(t) == COUNTER);
    at.map(|i| counters[i].counter_id).ok_or_else(|| Error(format!("no counter '{COUNTER}' by region")))
}
