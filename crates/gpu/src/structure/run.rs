//! Runs commands on acceleration structures, on a queue's thread or, for commands of the host, on the application's.

use super::input::{self, Inputs};
use super::micromap;
use super::{AccelerationStructure, Build, Command, Geometry, Range, Ranges};
use crate::query::StructureProperty;
use machine::rays::Structures;
use simd::Level;
use texel::memory::AddressSpace;

/// What the addresses of a command are.
pub enum Memory<'a> {
    Device(&'a AddressSpace),
    /// Pointers of the application's, and what it means by the handle of a structure: its device address. The application answers for
    /// them.
    Host(&'a dyn Fn(u64) -> u64, &'a AddressSpace),
}

/// Why a command did not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// This address is no memory of the device.
    Address(u64),
    NoMemory,
    /// Vertices are of a format that structures cannot be built of.
    Format,
    /// The structure does not fit where it is to be.
    Room,
    /// The source is no acceleration structure.
    Source,
    /// Geometries are of different kinds.
    Mixed,
    /// A triangle of a micromap has a format or level that there is not.
    Micromap,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Address(a) => write!(f, "{a:#x} is no memory of the device"),
            Failure::NoMemory => f.write_str("no memory to build the acceleration structure"),
            Failure::Format => {
                f.write_str("the vertex format is none that acceleration structures are built of")
            }
            Failure::Room => {
                f.write_str("the acceleration structure does not fit into its part of the buffer")
            }
            Failure::Micromap => f.write_str("a triangle of the micromap has no valid format and level"),
            Failure::Mixed => f.write_str("the geometries are of different kinds"),
            Failure::Source => f.write_str("the source is no acceleration structure"),
        }
    }
}

/// Bytes that a command has read and written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Moved {
    pub read: u64,
    pub written: u64,
}

impl Memory<'_> {
    fn device(&self) -> &AddressSpace {
        match self {
            Memory::Device(space) | Memory::Host(_, space) => space,
        }
    }
    /// Bytes that may be read from an address on.
    pub fn readable(&self, at: u64) -> u64 {
        match self {
            Memory::Device(space) => space.from(at).unwrap_or(0),
            Memory::Host(..) if at == 0 => 0,
            Memory::Host(..) => u64::MAX - at,
        }
    }
    /// The device address that an instance's reference means.
    pub fn structure(&self, reference: u64) -> u64 {
        match self {
            Memory::Device(_) => reference,
            Memory::Host(address, _) => address(reference),
        }
    }
    /// The bytes of a structure at a device address, which may be none.
    pub fn bytes(&self, address: u64) -> Option<bvh::Bytes> {
        Structures(self.device()).at(address)
    }
}

impl AccelerationStructure {
    /// Its bytes, unless its buffer has no memory.
    pub fn bytes(&self) -> Option<bvh::Bytes> {
        let (p, n) = self.range();
        // SAFETY: a part of the buffer, whose memory the command keeps.
        (!p.is_null()).then(|| unsafe { bvh::Bytes::new(p, n as usize) })
    }
}

/// Runs a command; `WriteProperties` aside, whose values [`property`] gives.
///
/// # Errors
/// The reason; what it was to write is any then.
pub fn run(c: &Command, memory: &Memory, level: Level, pool: &dyn bvh::Pool) -> Result<Moved, Failure> {
    match c {
        Command::Build(list) => {
            let mut all = Moved::default();
            for b in list {
                let m = build(b, memory, level, pool)?;
                all.read += m.read;
                all.written += m.written;
            }
            Ok(all)
        }
        Command::BuildMicromaps(list) => {
            let mut all = Moved::default();
            for b in list {
                let m = b.run(memory)?;
                all.read += m.read;
                all.written += m.written;
            }
            Ok(all)
        }
        Command::Copy { from, to, compact } => {
            let (from, to) = (from.bytes().ok_or(Failure::Source)?, to.bytes().ok_or(Failure::Room)?);
            let n = if *compact { bvh::compact(from, to) } else { bvh::clone(from, to) };
            let n = n.map_err(failure)?;
            Ok(Moved { read: n, written: n })
        }
        Command::Serialize { from, to } => {
            let from = from.bytes().ok_or(Failure::Source)?;
            let room = memory.readable(*to);
            // SAFETY: the application's memory, as far as it is the device's.
            let to = unsafe { bvh::Bytes::new(*to as *mut u8, usize::try_from(room).unwrap_or(usize::MAX)) };
            let n = bvh::serialize(from, &DRIVER_UUID, &LAYOUT_UUID, to).map_err(failure)?;
            Ok(Moved { read: n, written: n })
        }
        Command::Deserialize { from, to } => {
            let room = memory.readable(*from);
            // SAFETY: the application's memory, as far as it is the device's.
            let from =
                unsafe { bvh::Bytes::new(*from as *mut u8, usize::try_from(room).unwrap_or(usize::MAX)) };
            let n = bvh::deserialize(from, &DRIVER_UUID, &LAYOUT_UUID, to.bytes().ok_or(Failure::Room)?)
                .map_err(failure)?;
            Ok(Moved { read: n, written: n })
        }
        Command::WriteProperties { .. } => Ok(Moved::default()),
    }
}

/// `driverUUID` of VkPhysicalDeviceIDProperties, with which serialised structures begin.
pub const DRIVER_UUID: [u8; 16] = *b"tuff-driver-0001";
/// What tells versions of the layout of structures apart.
const LAYOUT_UUID: [u8; 16] = *b"tuff-structure-1";

/// Driver and version of serialised structures (VkAccelerationStructureVersionInfoKHR).
pub fn is_compatible(version: &[u8]) -> bool {
    version.len() == 32 && version[..16] == DRIVER_UUID && version[16..] == LAYOUT_UUID
}

pub(super) fn failure(e: bvh::Error) -> Failure {
    match e {
        bvh::Error::OutOfMemory | bvh::Error::TooMany => Failure::NoMemory,
        bvh::Error::TooSmall => Failure::Room,
        bvh::Error::NotAStructure | bvh::Error::Different => Failure::Source,
        bvh::Error::Mixed => Failure::Mixed,
    }
}

fn build(b: &Build, memory: &Memory, level: Level, pool: &dyn bvh::Pool) -> Result<Moved, Failure> {
    let mut ranges: Vec<Range> = vec![];
    match &b.ranges {
        Ranges::Direct(list) => ranges.extend_from_slice(list),
        Ranges::Indirect { address, stride, most } => {
            for (i, most) in most.iter().enumerate() {
                let at = address.wrapping_add(i as u64 * *stride as u64);
                if memory.readable(at) < 16 {
                    return Err(Failure::Address(at));
                }
                // SAFETY: sixteen bytes of the device's memory.
                let r = unsafe { (at as *const Range).read_unaligned() };
                ranges.push(Range { count: r.count.min(*most), ..r });
            }
        }
    }
    let to = b.to.bytes().ok_or(Failure::Room)?;
    let from = match &b.from {
        Some(from) => Some(from.bytes().ok_or(Failure::Source)?),
        None => None,
    };
    fits(b, &ranges, from, to)?;
    let inputs = input::read(memory, &b.geometries, &ranges, pool)?;
    let (read, written) = match &inputs {
        Inputs::Instances(list) => {
            let input = bvh::Input::Instances(list);
            (list.len() as u64 * input::INSTANCE_BYTES, make(&input, from, to, b, level, pool)?)
        }
        Inputs::Geometries(list) => {
            let geometries: Vec<_> = list.iter().map(|g| g.geometry()).collect();
            let bytes = |g: &bvh::Geometry| match g {
                bvh::Geometry::Triangles { positions, .. } => size_of_val(*positions),
                bvh::Geometry::Boxes { bounds, .. } => size_of_val(*bounds),
            };
            let read = geometries.iter().map(bytes).sum::<usize>() as u64;
            let written = make(&bvh::Input::Geometries(&geometries), from, to, b, level, pool)?;
            micromap::attach(list, to, pool)?;
            (read, written)
        }
    };
    Ok(Moved { read, written })
}

/// Whether a build's structure has room for so many primitives, or an update's source has as many. Asked before anything is read:
/// primitives may lie on one another (a stride of 0), so memory says nothing of how many there can be.
fn fits(b: &Build, ranges: &[Range], from: Option<bvh::Bytes>, to: bvh::Bytes) -> Result<(), Failure> {
    let counts: Vec<u64> = b.geometries.iter().zip(ranges).map(|(_, r)| r.count.into()).collect();
    if let Some(from) = from {
        let header = bvh::header(from).ok_or(Failure::Source)?;
        let same = header.primitives == counts.iter().sum::<u64>();
        return if same { Ok(()) } else { Err(Failure::Source) };
    }
    let counts = match b.geometries.first() {
        Some(Geometry::Instances { .. }) => bvh::Counts::Instances(counts.iter().sum()),
        Some(Geometry::Boxes { .. }) => bvh::Counts::Boxes(&counts),
        _ => bvh::Counts::Triangles(&counts),
    };
    let sizes = bvh::sizes(&counts, bvh::Flags(b.flags.as_raw())).map_err(failure)?;
    if sizes.structure <= to.len() as u64 { Ok(()) } else { Err(Failure::Room) }
}

/// Builds or updates; bytes written.
fn make(
    input: &bvh::Input,
    from: Option<bvh::Bytes>,
    to: bvh::Bytes,
    b: &Build,
    level: Level,
    pool: &dyn bvh::Pool,
) -> Result<u64, Failure> {
    let made = match from {
        None => bvh::build(level, to, input, bvh::Flags(b.flags.as_raw()), pool),
        Some(from) => bvh::update(level, from, to, input, pool),
    };
    made.map(|b| b.size).map_err(failure)
}

/// A number of a structure; 0 where there is none.
pub fn property(of: &AccelerationStructure, property: StructureProperty) -> u64 {
    let Some(bytes) = of.bytes() else { return 0 };
    match property {
        StructureProperty::CompactedSize => bvh::compacted_size(bytes),
        StructureProperty::SerializationSize => bvh::serialized_size(bytes),
        StructureProperty::SerializationBottomLevelPointers => bvh::handles(bytes),
        StructureProperty::Size => bvh::compacted_size(bytes),
    }
    .unwrap_or(0)
}
