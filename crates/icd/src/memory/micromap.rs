//! VkMicromapEXT: objects, sizes, and the host's commands on them (VK_EXT_opacity_micromap). What they hold is in [`bvh::micromap`].

use super::acceleration_structure::{ALIGN, perform, placed, properties};
use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out, OutSlice, array};
use crate::base::object::Object;
use crate::device::Device;
use gpu::structure::{self, BuildMicromap, Command, micromap_size};
use smallvec::SmallVec;
use std::sync::Arc;

pub struct Micromap {
    pub(crate) gpu: Arc<structure::AccelerationStructure>,
}

impl Object for Micromap {
    type Handle = vk::MicromapEXT;
}

/// The micromap of a handle.
pub(crate) fn get<'a>(
    call: impl Call<'a>,
    m: vk::MicromapEXT,
) -> Option<Arc<structure::AccelerationStructure>> {
    Some(call.object::<Micromap>(m)?.gpu.clone())
}

pub(crate) fn create_micromap_ext(
    _: &Device,
    info: In<vk::MicromapCreateInfoEXT>,
    out: Out<vk::MicromapEXT>,
) -> vk::Result {
    let i = info;
    let buffer = crate::memory::buffer::get(i, i.buffer).ok_or(vk::Result::ERROR_UNKNOWN);
    let made = buffer.and_then(|b| placed("vkCreateMicromapEXT", b, i.offset, i.size, i.device_address));
    created(out, made.map(|gpu| Micromap { gpu: Arc::new(gpu) }))
}

pub(crate) fn destroy_micromap_ext(_: &Device, m: Doomed<Micromap>) {
    m.destroy();
}

/// The triangles that a build is of.
fn usages(i: In<vk::MicromapBuildInfoEXT>) -> SmallVec<[vk::MicromapUsageEXT; 4]> {
    let count = i.usage_counts_count as usize;
    // SAFETY: valid usage: as many elements as counted, or as many pointers to elements; the other array is null.
    let (plain, pointers) = unsafe { (array(i.p_usage_counts, count), array(i.pp_usage_counts, count)) };
    if !plain.is_empty() {
        return plain.iter().copied().collect();
    }
    // SAFETY: valid usage: each pointer leads to an element.
    pointers.iter().map(|&u| unsafe { *u }).collect()
}

/// The builds of a call. Errors: more triangles than a micromap may have. `None`: a handle names nothing.
pub(crate) fn builds(infos: In<[vk::MicromapBuildInfoEXT]>) -> Answer<Option<Command>> {
    let mut all = vec![];
    for i in infos.iter() {
        let triangles = usages(i).iter().try_fold(0u32, |n, u| n.checked_add(u.count));
        let triangles = triangles.ok_or_else(|| invalid("a micromap has more than 2^32 triangles"))?;
        let Some(to) = get(i, i.dst_micromap) else { return Ok(None) };
        // SAFETY: all addresses of the unions have the same 64 bits.
        let (array, data) = unsafe { (i.triangle_array.device_address, i.data.device_address) };
        all.push(BuildMicromap { to, triangles, array, stride: i.triangle_array_stride, data });
    }
    Ok(Some(Command::BuildMicromaps(all)))
}

pub(crate) fn get_micromap_build_sizes_ext(
    _: &Device,
    _: vk::AccelerationStructureBuildTypeKHR,
    info: In<vk::MicromapBuildInfoEXT>,
    mut out: Fill<vk::MicromapBuildSizesInfoEXT>,
) {
    // No buffer is as large as that of invalid levels or formats: the application is told when it creates one.
    let size = micromap_size(&usages(info)).unwrap_or(u64::MAX / 2);
    // Structures refer to their micromaps, so those must stay. Scratch memory is not used, but buffers for it have some size.
    (out.micromap_size, out.build_scratch_size, out.discardable) = (size, ALIGN, vk::FALSE);
}

pub(crate) fn get_device_micromap_compatibility_ext(
    _: &Device,
    info: In<vk::MicromapVersionInfoEXT>,
    out: Out<vk::AccelerationStructureCompatibilityKHR>,
) {
    // SAFETY: valid usage: a version is 2 · VK_UUID_SIZE bytes.
    let version = unsafe { array(info.p_version_data.cast::<u8>(), 32) };
    out.set(super::acceleration_structure::compatibility(version));
}

pub(crate) fn build_micromaps_ext(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    infos: In<[vk::MicromapBuildInfoEXT]>,
) -> vk::Result {
    match builds(infos) {
        Ok(c) => perform(device, operation, c),
        Err(e) => e,
    }
}

/// A copy of one micromap to another.
pub(crate) fn copy(i: In<vk::CopyMicromapInfoEXT>) -> Option<Command> {
    let compact = i.mode == vk::CopyMicromapModeEXT::COMPACT;
    Some(Command::Copy { from: get(i, i.src)?, to: get(i, i.dst)?, compact })
}

/// A copy to plain memory.
pub(crate) fn serialize(i: In<vk::CopyMicromapToMemoryInfoEXT>) -> Option<Command> {
    // SAFETY: all addresses of the union have the same 64 bits.
    Some(Command::Serialize { from: get(i, i.src)?, to: unsafe { i.dst.device_address } })
}

/// A copy from plain memory.
pub(crate) fn deserialize(i: In<vk::CopyMemoryToMicromapInfoEXT>) -> Option<Command> {
    // SAFETY: all addresses of the union have the same 64 bits.
    Some(Command::Deserialize { from: unsafe { i.src.device_address }, to: get(i, i.dst)? })
}

pub(crate) fn copy_micromap_ext(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: In<vk::CopyMicromapInfoEXT>,
) -> vk::Result {
    perform(device, operation, copy(info))
}

pub(crate) fn copy_micromap_to_memory_ext(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: In<vk::CopyMicromapToMemoryInfoEXT>,
) -> vk::Result {
    perform(device, operation, serialize(info))
}

pub(crate) fn copy_memory_to_micromap_ext(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: In<vk::CopyMemoryToMicromapInfoEXT>,
) -> vk::Result {
    perform(device, operation, deserialize(info))
}

pub(crate) fn write_micromaps_properties_ext(
    device: &Device,
    micromaps: &[vk::MicromapEXT],
    query: vk::QueryType,
    data: OutSlice<u8>,
    stride: usize,
) -> vk::Result {
    let of = micromaps.iter().map(|m| get(device, *m));
    properties("vkWriteMicromapsPropertiesEXT", of, query, data, stride)
}
