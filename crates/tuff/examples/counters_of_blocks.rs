//! VK_ARM_shader_instrumentation: what each basic block of a compute shader cost. As docs/examples/shader_instrumentation.c, with
//! `client` for what every Vulkan program has and `vk` for what ash 0.38 lacks.

use client::compute::KernelInfo;
use client::library::name;
use client::{Buffer, Context, Error, Kernel, Library, Result};
use std::ffi::{CStr, c_void};

const NUMBERS: u32 = 4096;
const EXTENSION: &CStr = c"VK_ARM_shader_instrumentation";
/// VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM, bit 39.
const INSTRUMENT: vk::PipelineCreateFlags2KHR = vk::PipelineCreateFlags2KHR::from_raw(1 << 39);

type Metrics = unsafe extern "system" fn(
    vk::PhysicalDevice,
    *mut u32,
    *mut vk::ShaderInstrumentationMetricDescriptionARM<'_>,
) -> vk::Result;
type Create = unsafe extern "system" fn(
    vk::Device,
    *const vk::ShaderInstrumentationCreateInfoARM<'_>,
    *const vk::AllocationCallbacks<'_>,
    *mut vk::ShaderInstrumentationARM,
) -> vk::Result;
type Destroy =
    unsafe extern "system" fn(vk::Device, vk::ShaderInstrumentationARM, *const vk::AllocationCallbacks<'_>);
type Begin = unsafe extern "system" fn(vk::CommandBuffer, vk::ShaderInstrumentationARM);
type End = unsafe extern "system" fn(vk::CommandBuffer);
type Values = unsafe extern "system" fn(
    vk::Device,
    vk::ShaderInstrumentationARM,
    *mut u32,
    *mut c_void,
    vk::ShaderInstrumentationValuesFlagsARM,
) -> vk::Result;

/// A command by its name.
///
/// # Safety
/// `F` is the type that vk.xml gives it.
unsafe fn command<F: Copy>(context: &Context, name: &CStr) -> Result<F> {
    let found = context.instance_function(name).ok_or_else(|| Error(format!("no {name:?}")))?;
    // SAFETY: a function pointer, of the type that the caller knows.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

fn main() -> Result<()> {
    let mut features = vk::PhysicalDeviceShaderInstrumentationFeaturesARM {
        shader_instrumentation: vk::TRUE,
        ..Default::default()
    };
    let context = Context::extended(Library::any()?, &[EXTENSION], (&raw mut features).cast())?;
    let device = context.device.handle();
    // SAFETY: the types of vk.xml.
    let (metrics, create, destroy, begin, end, values): (Metrics, Create, Destroy, Begin, End, Values) = unsafe {
        (
            command(&context, c"vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM")?,
            command(&context, c"vkCreateShaderInstrumentationARM")?,
            command(&context, c"vkDestroyShaderInstrumentationARM")?,
            command(&context, c"vkCmdBeginShaderInstrumentationARM")?,
            command(&context, c"vkCmdEndShaderInstrumentationARM")?,
            command(&context, c"vkGetShaderInstrumentationValuesARM")?,
        )
    };

    let mut count = 0;
    // SAFETY: arrays of the length that the first call says.
    let texts = unsafe {
        metrics(context.physical, &mut count, std::ptr::null_mut()).result().map_err(Error::vk("metrics"))?;
        let mut texts = vec![vk::ShaderInstrumentationMetricDescriptionARM::default(); count as usize];
        metrics(context.physical, &mut count, texts.as_mut_ptr()).result().map_err(Error::vk("metrics"))?;
        texts
    };

    // Only pipelines that are made with the flag are counted.
    let mut numbers = Buffer::new(&context, NUMBERS as usize * 4)?;
    numbers.words_mut().iter_mut().zip(0..).for_each(|(n, i)| *n = i);
    let spirv = include_bytes!("../../../docs/examples/double.spv");
    let kernel = Kernel::with_flags(&context, &KernelInfo { spirv, bindings: 1, push_size: 0 }, INSTRUMENT)?;
    kernel.set(&[&numbers]);

    let mut object = vk::ShaderInstrumentationARM::default();
    // SAFETY: valid usage.
    unsafe { create(device, &Default::default(), std::ptr::null(), &mut object) }
        .result()
        .map_err(Error::vk("vkCreateShaderInstrumentationARM"))?;
    context.run(|device, commands| {
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            begin(commands, object);
            kernel.bind(commands, &[]);
            device.cmd_dispatch(commands, NUMBERS / 64, 1, 1);
            end(commands);
        }
    })?;

    // A row for each block: a header of four words, and as many integers of 64 bits as there are metrics.
    let size = size_of::<vk::ShaderInstrumentationMetricDataHeaderARM>() + texts.len() * 8;
    let mut rows = 0;
    // SAFETY: room for as many rows as the first call says.
    let bytes = unsafe {
        let what = Error::vk("vkGetShaderInstrumentationValuesARM");
        values(device, object, &mut rows, std::ptr::null_mut(), Default::default())
            .result()
            .map_err(&what)?;
        let mut bytes = vec![0u8; rows as usize * size];
        values(device, object, &mut rows, bytes.as_mut_ptr().cast(), Default::default())
            .result()
            .map_err(&what)?;
        destroy(device, object, std::ptr::null());
        bytes
    };
    for row in bytes.chunks_exact(size) {
        // resultIndex, resultSubIndex, stages, basicBlockIndex.
        let (header, counts) = row.split_at(16);
        println!("block {}:", header[12..].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b)));
        for (text, value) in texts.iter().zip(counts.as_chunks::<8>().0) {
            println!("    {}: {}", name(&text.name), u64::from_ne_bytes(*value));
        }
    }
    Ok(())
}
