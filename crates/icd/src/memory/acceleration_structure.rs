//! VkAccelerationStructureKHR: objects, sizes, and the host's commands on them. What they hold is in [`gpu::structure`].

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::given::{Call, Doomed, Fill, In, Out, OutSlice, array};
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::memory::capture;
use crate::sync::deferred_operation;
use gpu::query::StructureProperty;
use gpu::structure::{self, Attached, Build, Command, Failure, Geometry, Indices, Range, Ranges};
use machine::rays::Builders;
use smallvec::SmallVec;
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

/// The structure of a handle.
pub(crate) fn get<'a>(
    call: impl Call<'a>,
    s: vk::AccelerationStructureKHR,
) -> Option<Arc<structure::AccelerationStructure>> {
    Some(call.object::<AccelerationStructure>(s)?.gpu.clone())
}

/// The application has named a structure.
pub(crate) fn named<'a>(call: impl Call<'a>, s: vk::AccelerationStructureKHR, name: &str) {
    if let Some(s) = get(call, s) {
        *s.identity.name.lock() = name.into();
    }
}

/// Multiples of which structures' places in buffers are (VUID-VkAccelerationStructureCreateInfoKHR-offset-03734).
pub(super) const ALIGN: u64 = 256;

pub(crate) fn create_acceleration_structure_khr(
    _: &Device,
    info: In<vk::AccelerationStructureCreateInfoKHR>,
    out: Out<vk::AccelerationStructureKHR>,
) -> vk::Result {
    created(out, new(info))
}

fn new(i: In<vk::AccelerationStructureCreateInfoKHR>) -> Answer<AccelerationStructure> {
    let buffer = crate::memory::buffer::get(i, i.buffer).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let captured = match i.device_address {
        0 => capture::in_buffers(i.find()).unwrap_or(0),
        address => address,
    };
    let gpu = placed("vkCreateAccelerationStructureKHR", buffer, i.offset, i.size, captured)?;
    Ok(AccelerationStructure { gpu: Arc::new(gpu) })
}

/// A structure or micromap in a buffer, at the address that it had when it was captured, if it was.
pub(super) fn placed(
    call: &str,
    buffer: Arc<Buffer>,
    offset: u64,
    size: u64,
    captured: u64,
) -> Answer<structure::AccelerationStructure> {
    if !offset.is_multiple_of(ALIGN) || offset.checked_add(size).is_none_or(|end| end > buffer.size) {
        return Err(invalid(&format!(
            "{call}: {size} bytes at {offset} of a buffer of {}; offsets are multiples of {ALIGN}",
            buffer.size
        )));
    }
    let gpu = structure::AccelerationStructure::new(buffer, offset, size);
    // A captured address is the one that the buffer's memory was allocated at.
    if captured != 0 && gpu.address() != captured {
        return Err(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
    }
    Ok(gpu)
}

pub(crate) fn create_acceleration_structure2_khr(
    device: &Device,
    info: In<vk::AccelerationStructureCreateInfo2KHR>,
    out: Out<vk::AccelerationStructureKHR>,
) -> vk::Result {
    let range = info.address_range;
    let buffer = Buffer::at(device.space(), range.address, range.size);
    let made = match buffer.filter(|_| range.address.is_multiple_of(ALIGN)) {
        Some(b) => Ok(structure::AccelerationStructure::new(Arc::new(b), 0, range.size)),
        None => Err(invalid(&format!(
            "vkCreateAccelerationStructure2KHR: {} bytes at {:#x} are no device memory at a multiple of {ALIGN}",
            range.size, range.address
        ))),
    };
    created(out, made.map(|gpu| AccelerationStructure { gpu: Arc::new(gpu) }))
}

pub(crate) fn destroy_acceleration_structure_khr(_: &Device, s: Doomed<AccelerationStructure>) {
    s.destroy();
}

pub(crate) fn get_acceleration_structure_device_address_khr(
    _: &Device,
    info: In<vk::AccelerationStructureDeviceAddressInfoKHR>,
) -> u64 {
    get(info, info.acceleration_structure).map_or(0, |s| s.address())
}

pub(crate) fn get_device_acceleration_structure_compatibility_khr(
    _: &Device,
    info: In<vk::AccelerationStructureVersionInfoKHR>,
    out: Out<vk::AccelerationStructureCompatibilityKHR>,
) {
    // SAFETY: valid usage: a version is 2 · VK_UUID_SIZE bytes.
    let version = unsafe { array(info.p_version_data.cast::<u8>(), 32) };
    out.set(compatibility(version));
}

/// Whether what was serialised under this version can be read.
pub(super) fn compatibility(version: &[u8]) -> vk::AccelerationStructureCompatibilityKHR {
    match structure::is_compatible(version) {
        true => vk::AccelerationStructureCompatibilityKHR::COMPATIBLE,
        false => vk::AccelerationStructureCompatibilityKHR::INCOMPATIBLE,
    }
}

/// The geometries of a build. Errors: a kind that is none.
fn geometries(i: In<vk::AccelerationStructureBuildGeometryInfoKHR>) -> Answer<SmallVec<[Geometry; 1]>> {
    let count = i.geometry_count as usize;
    // SAFETY: valid usage: as many geometries as counted, or as many pointers to geometries; the other array is null.
    let (plain, pointers) = unsafe { (array(i.p_geometries, count), array(i.pp_geometries, count)) };
    if !plain.is_empty() {
        return plain.iter().map(|g| geometry(i, g)).collect();
    }
    // SAFETY: valid usage: each pointer leads to a geometry.
    pointers.iter().map(|&g| geometry(i, unsafe { &*g })).collect()
}

/// Where indices of a type are.
fn indices(ty: vk::IndexType, at: u64) -> Indices {
    if ty == vk::IndexType::NONE_KHR { Indices::None } else { Indices::At(at, ty) }
}

/// What a geometry's triangles have of a micromap.
fn attached<'a>(
    call: impl Call<'a>,
    t: &vk::AccelerationStructureGeometryTrianglesDataKHR,
) -> Answer<Option<Attached>> {
    // SAFETY: valid usage: the chain's structures are what their types say.
    let found = unsafe { chain::find::<vk::AccelerationStructureTrianglesOpacityMicromapEXT>(t.p_next) };
    let Some(m) = found else { return Ok(None) };
    let map = match m.micromap == vk::MicromapEXT::null() {
        true => None,
        false => Some(super::micromap::get(call, m.micromap).ok_or(vk::Result::ERROR_UNKNOWN)?),
    };
    // SAFETY: all addresses of the union have the same 64 bits.
    let at = unsafe { m.index_buffer.device_address };
    let indices = indices(m.index_type, at);
    Ok(Some(Attached { map, indices, stride: m.index_stride, base: m.base_triangle }))
}

fn geometry<'a>(call: impl Call<'a>, g: &vk::AccelerationStructureGeometryKHR) -> Answer<Geometry> {
    // SAFETY: valid usage: the union holds what the type says; all its addresses are of 64 bits, those of the host too.
    unsafe {
        Ok(match g.geometry_type {
            vk::GeometryTypeKHR::TRIANGLES => {
                let t = &g.geometry.triangles;
                Geometry::Triangles {
                    format: t.vertex_format,
                    vertices: t.vertex_data.device_address,
                    stride: t.vertex_stride,
                    max_vertex: t.max_vertex,
                    indices: indices(t.index_type, t.index_data.device_address),
                    transform: t.transform_data.device_address,
                    flags: g.flags,
                    micromap: attached(call, t)?,
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
pub(crate) fn build(
    i: In<vk::AccelerationStructureBuildGeometryInfoKHR>,
    ranges: Ranges,
) -> Answer<Option<Build>> {
    let update = i.mode == vk::BuildAccelerationStructureModeKHR::UPDATE;
    let from = if update { get(i, i.src_acceleration_structure) } else { None };
    let Some(to) = get(i, i.dst_acceleration_structure).filter(|_| from.is_some() == update) else {
        return Ok(None);
    };
    Ok(Some(Build { kind: i.ty, flags: i.flags, from, to, geometries: geometries(i)?, ranges }))
}

/// The builds of a call whose ranges are the host's.
pub(crate) fn builds(
    infos: In<[vk::AccelerationStructureBuildGeometryInfoKHR]>,
    ranges: &[*const vk::AccelerationStructureBuildRangeInfoKHR],
) -> Answer<Vec<Build>> {
    let mut all = vec![];
    for (i, &ranges) in infos.iter().zip(ranges) {
        let range = |r: &vk::AccelerationStructureBuildRangeInfoKHR| Range {
            count: r.primitive_count,
            offset: r.primitive_offset,
            first_vertex: r.first_vertex,
            transform_offset: r.transform_offset,
        };
        // SAFETY: valid usage: as many ranges as geometries.
        let ranges = unsafe { array(ranges, i.geometry_count as usize) }.iter().map(range).collect();
        all.extend(build(i, Ranges::Direct(ranges))?);
    }
    Ok(all)
}

pub(crate) fn get_acceleration_structure_build_sizes_khr(
    _: &Device,
    _: vk::AccelerationStructureBuildTypeKHR,
    info: In<vk::AccelerationStructureBuildGeometryInfoKHR>,
    most: &[u32],
    mut out: Fill<vk::AccelerationStructureBuildSizesInfoKHR>,
) {
    let i = info;
    let counts: Vec<u64> = most.iter().map(|&n| n.into()).collect();
    let kind = geometries(i).ok().and_then(|g| g.into_iter().next());
    let counts = match kind {
        Some(Geometry::Triangles { .. }) => bvh::Counts::Triangles(&counts),
        Some(Geometry::Boxes { .. }) => bvh::Counts::Boxes(&counts),
        _ if i.ty == Type::TOP_LEVEL => bvh::Counts::Instances(counts.iter().sum()),
        _ => bvh::Counts::Triangles(&counts),
    };
    let sizes = bvh::sizes(&counts, bvh::Flags(i.flags.as_raw()));
    (out.acceleration_structure_size, out.build_scratch_size, out.update_scratch_size) = match sizes {
        Ok(s) => (s.structure, s.build_scratch, s.update_scratch),
        // No buffer is as large: the application is told when it creates one.
        Err(_) => (u64::MAX / 2, 0, 0),
    };
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
    let done = structure::run(c, &memory, shared.level, &Builders(&shared.pool));
    if done.is_ok() {
        gpu::channel::structures(c);
    }
    code(done)
}

/// Runs a command of the host, now or, with a deferred operation, when a thread joins it. `None`: a handle in it names nothing.
pub(super) fn perform(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    c: Option<Command>,
) -> vk::Result {
    let Some(c) = c else { return vk::Result::ERROR_UNKNOWN };
    let space = device.space().clone();
    deferred_operation::perform(device, operation, move |device| run(device, &space, &c))
}

pub(crate) fn build_acceleration_structures_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    infos: In<[vk::AccelerationStructureBuildGeometryInfoKHR]>,
    ranges: &[*const vk::AccelerationStructureBuildRangeInfoKHR],
) -> vk::Result {
    match builds(infos, ranges) {
        Ok(builds) => perform(device, operation, Some(Command::Build(builds))),
        Err(e) => e,
    }
}

pub(crate) fn copy_acceleration_structure_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: In<vk::CopyAccelerationStructureInfoKHR>,
) -> vk::Result {
    perform(device, operation, copy(info))
}

/// A copy of one structure to another.
pub(crate) fn copy(i: In<vk::CopyAccelerationStructureInfoKHR>) -> Option<Command> {
    let compact = i.mode == vk::CopyAccelerationStructureModeKHR::COMPACT;
    Some(Command::Copy { from: get(i, i.src)?, to: get(i, i.dst)?, compact })
}

/// A copy to plain memory.
pub(crate) fn serialize(i: In<vk::CopyAccelerationStructureToMemoryInfoKHR>) -> Option<Command> {
    Some(Command::Serialize {
        from: get(i, i.src)?, // SAFETY: all addresses of the union have the same 64 bits.
        to: unsafe { i.dst.device_address },
    })
}

/// A copy from plain memory.
pub(crate) fn deserialize(i: In<vk::CopyMemoryToAccelerationStructureInfoKHR>) -> Option<Command> {
    Some(Command::Deserialize {
        // SAFETY: all addresses of the union have the same 64 bits.
        from: unsafe { i.src.device_address },
        to: get(i, i.dst)?,
    })
}

pub(crate) fn copy_acceleration_structure_to_memory_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: In<vk::CopyAccelerationStructureToMemoryInfoKHR>,
) -> vk::Result {
    perform(device, operation, serialize(info))
}

pub(crate) fn copy_memory_to_acceleration_structure_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    info: In<vk::CopyMemoryToAccelerationStructureInfoKHR>,
) -> vk::Result {
    perform(device, operation, deserialize(info))
}

pub(crate) fn write_acceleration_structures_properties_khr(
    device: &Device,
    structures: &[vk::AccelerationStructureKHR],
    query: vk::QueryType,
    data: OutSlice<u8>,
    stride: usize,
) -> vk::Result {
    let of = structures.iter().map(|s| get(device, *s));
    properties("vkWriteAccelerationStructuresPropertiesKHR", of, query, data, stride)
}

/// Writes a property of structures or micromaps.
pub(super) fn properties(
    call: &str,
    of: impl Iterator<Item = Option<Arc<structure::AccelerationStructure>>>,
    query: vk::QueryType,
    data: OutSlice<u8>,
    stride: usize,
) -> vk::Result {
    let Some(property) = StructureProperty::of(query) else {
        return invalid(&format!("{call}: no property {query:?}"));
    };
    for (i, s) in of.enumerate() {
        let Some(s) = s else { return vk::Result::ERROR_UNKNOWN };
        let value = structure::property(&s, property).to_ne_bytes();
        if !i.checked_mul(stride).is_some_and(|at| data.put(at, &value)) {
            return vk::Result::ERROR_UNKNOWN;
        }
    }
    vk::Result::SUCCESS
}
