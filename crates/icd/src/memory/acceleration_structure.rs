//! VkAccelerationStructureKHR: objects, sizes, and the host's commands on them. What they hold is in [`gpu::structure`].

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::sync::deferred_operation;
use gpu::structure::{self, Build, Command, Failure, Geometry, Indices, Property, Range, Ranges};
use machine::rays::Builders;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::memory::AddressSpace;
use vk::{AccelerationStructureTypeKHR as Type, Handle};

pub struct AccelerationStructure {
    pub(crate) gpu: Arc<structure::AccelerationStructure>,
}

impl Object for AccelerationStructure {
    type Handle = vk::AccelerationStructureKHR;
}

/// The structure behind a handle.
pub(crate) unsafe fn get(s: vk::AccelerationStructureKHR) -> Option<Arc<structure::AccelerationStructure>> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe { Some(object::get::<AccelerationStructure>(s)?.gpu.clone()) }
}

/// Multiples of which structures' places in buffers are (VUID-VkAccelerationStructureCreateInfoKHR-offset-03734).
const ALIGN: u64 = 256;

pub(crate) unsafe fn create_acceleration_structure_khr(
    _: &Device,
    info: *const vk::AccelerationStructureCreateInfoKHR,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::AccelerationStructureKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, new(&*info)) }
}

unsafe fn new(i: &vk::AccelerationStructureCreateInfoKHR) -> Answer<AccelerationStructure> {
    // SAFETY: valid usage: the structure's handles are of live objects.
    let buffer = unsafe { crate::memory::buffer::get(i.buffer) }.ok_or(vk::Result::ERROR_UNKNOWN)?;
    if !i.offset.is_multiple_of(ALIGN) || i.offset.checked_add(i.size).is_none_or(|end| end > buffer.size) {
        return Err(invalid(&format!(
            "vkCreateAccelerationStructureKHR: {} bytes at {} of a buffer of {}; offsets are multiples of {ALIGN}",
            i.size, i.offset, buffer.size
        )));
    }
    let gpu = structure::AccelerationStructure { buffer, offset: i.offset, size: i.size, kind: i.ty };
    // A captured address is the one that the buffer's memory was allocated at.
    if i.device_address != 0 && gpu.address() != i.device_address {
        return Err(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
    }
    Ok(AccelerationStructure { gpu: Arc::new(gpu) })
}

pub(crate) unsafe fn create_acceleration_structure2_khr(
    device: &Device,
    info: *const vk::AccelerationStructureCreateInfo2KHR,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::AccelerationStructureKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let (ty, range) = ((*info).ty, (*info).address_range);
        let buffer = Buffer::at(device.space(), range.address, range.size);
        let made = match buffer.filter(|_| range.address.is_multiple_of(ALIGN)) {
            Some(b) => Ok(structure::AccelerationStructure {
                buffer: Arc::new(b),
                offset: 0,
                size: range.size,
                kind: ty,
            }),
            None => Err(invalid(&format!(
                "vkCreateAccelerationStructure2KHR: {} bytes at {:#x} are no device memory at a multiple of {ALIGN}",
                range.size, range.address
            ))),
        };
        created(out, made.map(|gpu| AccelerationStructure { gpu: Arc::new(gpu) }))
    }
}

pub(crate) unsafe fn destroy_acceleration_structure_khr(
    _: &Device,
    s: vk::AccelerationStructureKHR,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<AccelerationStructure>(s);
    }
}

pub(crate) unsafe fn get_acceleration_structure_device_address_khr(
    _: &Device,
    info: *const vk::AccelerationStructureDeviceAddressInfoKHR,
) -> u64 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { get((*info).acceleration_structure).map_or(0, |s| s.address()) }
}

pub(crate) unsafe fn get_device_acceleration_structure_compatibility_khr(
    _: &Device,
    info: *const vk::AccelerationStructureVersionInfoKHR,
    out: *mut vk::AccelerationStructureCompatibilityKHR,
) {
    // SAFETY: valid usage: the version is 2 · VK_UUID_SIZE bytes.
    unsafe {
        let version = chain::slice((*info).p_version_data.cast::<u8>(), 32);
        *out = match structure::is_compatible(version) {
            true => vk::AccelerationStructureCompatibilityKHR::COMPATIBLE,
            false => vk::AccelerationStructureCompatibilityKHR::INCOMPATIBLE,
        };
    }
}

/// The geometries of a build. Errors: a kind that is none.
unsafe fn geometries(i: &vk::AccelerationStructureBuildGeometryInfoKHR) -> Answer<SmallVec<[Geometry; 1]>> {
    // SAFETY: valid usage: as many geometries as counted, in one of the two forms.
    unsafe {
        let mut all = SmallVec::new();
        for k in 0..i.geometry_count as usize {
            let g = match i.p_geometries.is_null() {
                false => &*i.p_geometries.add(k),
                true if i.pp_geometries.is_null() => break,
                true => &**i.pp_geometries.add(k),
            };
            all.push(geometry(g)?);
        }
        Ok(all)
    }
}

unsafe fn geometry(g: &vk::AccelerationStructureGeometryKHR) -> Answer<Geometry> {
    // SAFETY: valid usage: the union holds what the type says; all its addresses are of 64 bits, those of the host too.
    unsafe {
        Ok(match g.geometry_type {
            vk::GeometryTypeKHR::TRIANGLES => {
                let t = &g.geometry.triangles;
                let indices = match t.index_type {
                    vk::IndexType::NONE_KHR => Indices::None,
                    ty => Indices::At(t.index_data.device_address, ty),
                };
                Geometry::Triangles {
                    format: t.vertex_format,
                    vertices: t.vertex_data.device_address,
                    stride: t.vertex_stride,
                    max_vertex: t.max_vertex,
                    indices,
                    transform: t.transform_data.device_address,
                    flags: g.flags,
                }
            }
            vk::GeometryTypeKHR::AABBS => {
                let a = &g.geometry.aabbs;
                Geometry::Boxes { data: a.data.device_address, stride: a.stride, flags: g.flags }
            }
            vk::GeometryTypeKHR::INSTANCES => {
                let i = &g.geometry.instances;
                Geometry::Instances {
                    data: i.data.device_address,
                    pointers: i.array_of_pointers != vk::FALSE,
                }
            }
            other => {
                return Err(invalid(&format!(
                    "acceleration structures of geometries of type {other:?} are not supported"
                )));
            }
        })
    }
}

/// One build with its ranges; `None`: a handle in it names nothing.
pub(crate) unsafe fn build(
    i: &vk::AccelerationStructureBuildGeometryInfoKHR,
    ranges: Ranges,
) -> Answer<Option<Build>> {
    // SAFETY: valid usage: the structure's pointers lead to what they are said to.
    unsafe {
        let update = i.mode == vk::BuildAccelerationStructureModeKHR::UPDATE;
        let from = if update { get(i.src_acceleration_structure) } else { None };
        let Some(to) = get(i.dst_acceleration_structure).filter(|_| from.is_some() == update) else {
            return Ok(None);
        };
        Ok(Some(Build { kind: i.ty, flags: i.flags, from, to, geometries: geometries(i)?, ranges }))
    }
}

/// The builds of a call whose ranges are the host's.
pub(crate) unsafe fn builds(
    count: u32,
    infos: *const vk::AccelerationStructureBuildGeometryInfoKHR,
    ranges: *const *const vk::AccelerationStructureBuildRangeInfoKHR,
) -> Answer<Vec<Build>> {
    // SAFETY: valid usage: as many infos, and pointers to as many ranges as each has geometries.
    unsafe {
        let mut all = vec![];
        for (k, i) in chain::slice(infos, count).iter().enumerate() {
            let range = |r: &vk::AccelerationStructureBuildRangeInfoKHR| Range {
                count: r.primitive_count,
                offset: r.primitive_offset,
                first_vertex: r.first_vertex,
                transform_offset: r.transform_offset,
            };
            let ranges = chain::slice(*ranges.add(k), i.geometry_count).iter().map(range).collect();
            all.extend(build(i, Ranges::Direct(ranges))?);
        }
        Ok(all)
    }
}

pub(crate) unsafe fn get_acceleration_structure_build_sizes_khr(
    _: &Device,
    _: vk::AccelerationStructureBuildTypeKHR,
    info: *const vk::AccelerationStructureBuildGeometryInfoKHR,
    most: *const u32,
    out: *mut vk::AccelerationStructureBuildSizesInfoKHR,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let counts: Vec<u64> = chain::slice(most, i.geometry_count).iter().map(|&n| n.into()).collect();
        let kind = geometries(i).ok().and_then(|g| g.first().copied());
        let counts = match kind {
            Some(Geometry::Triangles { .. }) => bvh::Counts::Triangles(&counts),
            Some(Geometry::Boxes { .. }) => bvh::Counts::Boxes(&counts),
            _ if i.ty == Type::TOP_LEVEL => bvh::Counts::Instances(counts.iter().sum()),
            _ => bvh::Counts::Triangles(&counts),
        };
        let sizes = bvh::sizes(&counts, bvh::Flags(i.flags.as_raw()));
        let out = &mut *out;
        (out.acceleration_structure_size, out.build_scratch_size, out.update_scratch_size) = match sizes {
            Ok(s) => (s.structure, s.build_scratch, s.update_scratch),
            // No buffer is as large: the application is told when it creates one.
            Err(_) => (u64::MAX / 2, 0, 0),
        };
    }
}

fn code(r: Result<structure::Moved, Failure>) -> vk::Result {
    match r {
        Ok(_) => vk::Result::SUCCESS,
        Err(Failure::NoMemory) => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        Err(e) => invalid(&format!("a host command on acceleration structures: {e}")),
    }
}

/// What an instance of a host build refers to: a handle, whose structure's address is meant.
fn referred(handle: u64) -> u64 {
    let handle = vk::AccelerationStructureKHR::from_raw(handle);
    if handle == vk::AccelerationStructureKHR::null() {
        return 0;
    }
    object::hold::<AccelerationStructure>(handle).map_or(0, |s| s.gpu.address())
}

fn run(device: &Device, space: &AddressSpace, c: &Command) -> vk::Result {
    let memory = structure::Memory::Host(&referred, space);
    let shared = &device.gpu.shared;
    code(structure::run(c, &memory, shared.level, &Builders(&shared.pool)))
}

/// Runs a command of the host, now or, with a deferred operation, when a thread joins it.
unsafe fn perform(device: &Device, operation: vk::DeferredOperationKHR, c: Command) -> vk::Result {
    let space = device.space().clone();
    // SAFETY: valid usage: a deferred operation is joined before its device is destroyed.
    unsafe { deferred_operation::perform(device, operation, move |device| run(device, &space, &c)) }
}

pub(crate) unsafe fn build_acceleration_structures_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    count: u32,
    infos: *const vk::AccelerationStructureBuildGeometryInfoKHR,
    ranges: *const *const vk::AccelerationStructureBuildRangeInfoKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match builds(count, infos, ranges) {
            Ok(builds) => perform(device, operation, Command::Build(builds)),
            Err(e) => e,
        }
    }
}

pub(crate) unsafe fn copy_acceleration_structure_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: *const vk::CopyAccelerationStructureInfoKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match copy(&*info) {
            Some(c) => perform(device, operation, c),
            None => vk::Result::ERROR_UNKNOWN,
        }
    }
}

/// A copy of one structure to another.
pub(crate) unsafe fn copy(i: &vk::CopyAccelerationStructureInfoKHR) -> Option<Command> {
    // SAFETY: valid usage: the structure's handles are of live objects.
    unsafe {
        let compact = i.mode == vk::CopyAccelerationStructureModeKHR::COMPACT;
        Some(Command::Copy { from: get(i.src)?, to: get(i.dst)?, compact })
    }
}

/// A copy to plain memory.
pub(crate) unsafe fn serialize(i: &vk::CopyAccelerationStructureToMemoryInfoKHR) -> Option<Command> {
    // SAFETY: valid usage: the structure's handles are of live objects.
    unsafe { Some(Command::Serialize { from: get(i.src)?, to: i.dst.device_address }) }
}

/// A copy from plain memory.
pub(crate) unsafe fn deserialize(i: &vk::CopyMemoryToAccelerationStructureInfoKHR) -> Option<Command> {
    // SAFETY: valid usage: the structure's handles are of live objects.
    unsafe { Some(Command::Deserialize { from: i.src.device_address, to: get(i.dst)? }) }
}

pub(crate) unsafe fn copy_acceleration_structure_to_memory_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: *const vk::CopyAccelerationStructureToMemoryInfoKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match serialize(&*info) {
            Some(c) => perform(device, operation, c),
            None => vk::Result::ERROR_UNKNOWN,
        }
    }
}

pub(crate) unsafe fn copy_memory_to_acceleration_structure_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: *const vk::CopyMemoryToAccelerationStructureInfoKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match deserialize(&*info) {
            Some(c) => perform(device, operation, c),
            None => vk::Result::ERROR_UNKNOWN,
        }
    }
}

pub(crate) unsafe fn write_acceleration_structures_properties_khr(
    _: &Device,
    count: u32,
    structures: *const vk::AccelerationStructureKHR,
    query: vk::QueryType,
    data_size: usize,
    data: *mut c_void,
    stride: usize,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(property) = Property::of(query) else {
            return invalid(&format!("vkWriteAccelerationStructuresPropertiesKHR: no property {query:?}"));
        };
        for (i, s) in chain::slice(structures, count).iter().enumerate() {
            let at = i.checked_mul(stride).filter(|at| at.checked_add(8).is_some_and(|end| end <= data_size));
            let (Some(at), Some(s)) = (at, get(*s)) else { return vk::Result::ERROR_UNKNOWN };
            data.byte_add(at).cast::<u64>().write_unaligned(structure::property(&s, property));
        }
        vk::Result::SUCCESS
    }
}
