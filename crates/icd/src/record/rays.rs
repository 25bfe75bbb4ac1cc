//! Traces of rays.

use crate::pipeline::pipeline_ray_tracing::rays;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use gpu::trace::{Region, Size, Trace};

fn region(r: &vk::StridedDeviceAddressRegionKHR) -> Region {
    Region { address: r.device_address, stride: r.stride, size: r.size }
}

fn record(b: &CommandBuffer, tables: [Region; 4], size: Size, call: &'static str) {
    let Some(mut r) = b.recording() else { return };
    let instrumentation = r.instrumented();
    let bound = r.rays.pipeline.clone();
    let Some((shared, pipeline)) = bound.as_ref().and_then(|p| Some((p, rays(p)?.clone()))) else {
        crate::base::debug::log_error(&format!("{call} without a bound ray tracing pipeline"));
        return;
    };
    let (push, heaps) = (r.push, r.heaps);
    let bindings = r.rays.bindings(shared, &push, heaps);
    let instrumentation = instrumentation.or_else(|| shared.measured.clone());
    r.push(Command::Trace(Box::new(Trace { pipeline, bindings, tables, size, instrumentation, call })));
}

pub(crate) fn cmd_trace_rays_khr(
    b: &CommandBuffer,
    raygen: &vk::StridedDeviceAddressRegionKHR,
    miss: &vk::StridedDeviceAddressRegionKHR,
    hit: &vk::StridedDeviceAddressRegionKHR,
    callable: &vk::StridedDeviceAddressRegionKHR,
    width: u32,
    height: u32,
    depth: u32,
) {
    let tables = [raygen, miss, hit, callable].map(region);
    record(b, tables, Size::Direct([width, height, depth]), "vkCmdTraceRaysKHR");
}

pub(crate) fn cmd_trace_rays_indirect_khr(
    b: &CommandBuffer,
    raygen: &vk::StridedDeviceAddressRegionKHR,
    miss: &vk::StridedDeviceAddressRegionKHR,
    hit: &vk::StridedDeviceAddressRegionKHR,
    callable: &vk::StridedDeviceAddressRegionKHR,
    address: u64,
) {
    let tables = [raygen, miss, hit, callable].map(region);
    record(b, tables, Size::At(address), "vkCmdTraceRaysIndirectKHR");
}

pub(crate) fn cmd_trace_rays_indirect2_khr(b: &CommandBuffer, address: u64) {
    record(b, Default::default(), Size::WithTables(address), "vkCmdTraceRaysIndirect2KHR");
}

/// There is no stack whose size would matter.
pub(crate) fn cmd_set_ray_tracing_pipeline_stack_size_khr(_: &CommandBuffer, _: u32) {}
