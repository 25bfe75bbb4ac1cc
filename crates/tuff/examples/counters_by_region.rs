//! VK_ARM_performance_counters_by_region: a map of what each region of a render pass cost, as numbers in rows. As
//! docs/examples/counters_by_region.c, with `client` for what every Vulkan program has and `vk` for what ash 0.38 lacks.

use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, barrier};
use client::library::name;
use client::{Buffer, Context, Error, Library, Result};
use std::ffi::CStr;

const SIZE: [u32; 2] = [320, 192];
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const EXTENSION: &CStr = c"VK_ARM_performance_counters_by_region";
const COMMAND: &CStr = c"vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM";
const COUNTER: &str = "Main phase active cycles";

type Enumerate = unsafe extern "system" fn(
    vk::PhysicalDevice,
    u32,
    *mut u32,
    *mut vk::PerformanceCounterARM<'_>,
    *mut vk::PerformanceCounterDescriptionARM<'_>,
) -> vk::Result;

/// The counter by its name.
fn counter(context: &Context) -> Result<u32> {
    let found = context.instance_function(COMMAND).ok_or_else(|| Error(format!("no {COMMAND:?}")))?;
    // SAFETY: the type that vk.xml gives the command; arrays of the length that the first call says.
    let (counters, texts) = unsafe {
        let enumerate = std::mem::transmute::<unsafe extern "system" fn(), Enumerate>(found);
        let (mut n, null) = (0, std::ptr::null_mut());
        enumerate(context.physical, 0, &mut n, null, std::ptr::null_mut())
            .result()
            .map_err(Error::vk("counters"))?;
        let mut counters = vec![vk::PerformanceCounterARM::default(); n as usize];
        let mut texts = vec![vk::PerformanceCounterDescriptionARM::default(); n as usize];
        enumerate(context.physical, 0, &mut n, counters.as_mut_ptr(), texts.as_mut_ptr())
            .result()
            .map_err(Error::vk("counters"))?;
        (counters, texts)
    };
    let at = texts.iter().position(|t| name(&t.name) == COUNTER);
    at.map(|i| counters[i].counter_id).ok_or_else(|| Error(format!("no counter '{COUNTER}'")))
}

fn main() -> Result<()> {
    let mut features = vk::PhysicalDevicePerformanceCountersByRegionFeaturesARM {
        performance_counters_by_region: vk::TRUE,
        ..Default::default()
    };
    let context = Context::extended(Library::any()?, &[EXTENSION], (&raw mut features).cast())?;

    // A word for each counter of a region; regions and rows of regions aligned as the device says.
    let mut region = vk::PhysicalDevicePerformanceCountersByRegionPropertiesARM::default();
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut region).cast(), ..Default::default() };
    // SAFETY: a valid chain, of a live device.
    unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
    let side = region.performance_counter_region_size;
    let (across, down) = (SIZE[0].div_ceil(side.width) as usize, SIZE[1].div_ceil(side.height) as usize);
    let stride = 4usize.next_multiple_of(region.region_alignment as usize);
    let pitch = (across * stride).next_multiple_of(region.row_stride_alignment as usize);
    let counts = Buffer::addressed(&context, pitch * down, Default::default())?;

    let (address, mut index) = ([counts.address()], [counter(&context)?]);
    let counted = vk::RenderPassPerformanceCountersByRegionBeginInfoARM {
        counter_address_count: 1,
        p_counter_addresses: address.as_ptr(),
        counter_index_count: 1,
        p_counter_indices: index.as_mut_ptr(),
        ..Default::default()
    };
    let vertex = include_bytes!("../../../docs/examples/triangle.vert.spv");
    let fragment = include_bytes!("../../../docs/examples/triangle.frag.spv");
    let pipeline = Pipeline::new(&context, &PipelineInfo::new(vertex, fragment, FORMAT), None)?;
    let target = Image::new(&context, ImageInfo::colour(FORMAT, SIZE))?;
    let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
    let pass = Pass { colours, size: SIZE, chain: (&raw const counted).cast(), ..Default::default() };
    context.run(|device, commands| {
        pass.record(device, commands, |device, commands| {
            pipeline.bind(commands, None, &[]);
            // SAFETY: recording into a pass that has begun.
            unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
        });
        barrier(device, commands);
    })?;

    let order = match region.identity_transform_order {
        vk::TRUE => "",
        _ => ", in the order of memory, which is not the picture's",
    };
    println!("{COUNTER}, by regions of {}x{}{order}", side.width, side.height);
    for y in 0..down {
        let row = (0..across).map(|x| counts.words()[(y * pitch + x * stride) / 4].to_string());
        println!("{}", row.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
