//! Copies of structures and micromaps: clones, compacted ones, and serialised ones.

use crate::layout::{Header, Kind, Record, View};
use crate::{Bytes, Error, micromap};

/// Bounds of all that is active, in the structure's space: lower ones, then upper ones. Lower ones are above upper ones if there is
/// nothing.
pub fn bounds(of: Bytes) -> Option<[f32; 6]> {
    Header::read(of).map(|h| h.bounds)
}

/// What the structure says of itself, if it is one.
pub fn header(of: Bytes) -> Option<Header> {
    Header::read(of)
}

/// Bytes that a compacted copy needs.
pub fn compacted_size(of: Bytes) -> Option<u64> {
    match Header::read(of) {
        Some(header) => header.parts().map(|p| p.size),
        None => micromap::extent(of),
    }
}

/// How many instances of other structures there are, and their leaves.
fn instances(of: Bytes) -> Option<(Option<View>, u64)> {
    match View::of(of) {
        Some((view, header)) => {
            let top = header.kind == Kind::Instances;
            Some((Some(view), if top { header.leaves as u64 } else { 0 }))
        }
        None => micromap::extent(of).map(|_| (None, 0)),
    }
}

/// Copies what is in use: `dst` needs [`compacted_size`] bytes.
pub fn compact(src: Bytes, dst: Bytes) -> Result<u64, Error> {
    let size = compacted_size(src).ok_or(Error::NotAStructure)?;
    if size > dst.len() as u64 {
        return Err(Error::TooSmall);
    }
    // SAFETY: both have `size` bytes: `src` by its header's check.
    unsafe { std::ptr::copy(src.pointer(), dst.pointer(), size as usize) };
    Ok(size)
}

/// As [`compact`]: nothing else is in a structure.
pub fn clone(src: Bytes, dst: Bytes) -> Result<u64, Error> {
    compact(src, dst)
}

/// Bytes before the handles of a serialised structure: two UUIDs, two sizes and a count.
const HEAD: u64 = 56;

/// The number of bottom structures that a top one refers to: its active instances, in the order of their handles.
pub fn handles(of: Bytes) -> Option<u64> {
    instances(of).map(|(_, n)| n)
}

fn data_at(handles: u64) -> Option<u64> {
    HEAD.checked_add(handles.checked_mul(8)?)
}

/// Bytes of a serialised copy.
pub fn serialized_size(of: Bytes) -> Option<u64> {
    data_at(handles(of)?)?.checked_add(compacted_size(of)?)
}

/// What the first bytes of a serialised structure say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serialized {
    pub driver: [u8; 16],
    pub compatibility: [u8; 16],
    pub size: u64,
    /// Bytes that the structure needs.
    pub deserialized_size: u64,
    pub handles: u64,
}

/// As Vulkan lays it out: UUIDs of driver and compatibility, sizes serialised and not, the number of handles, the handles, the data.
/// How many bytes were written.
pub fn serialize(src: Bytes, driver: &[u8; 16], compatibility: &[u8; 16], out: Bytes) -> Result<u64, Error> {
    let (view, count) = instances(src).ok_or(Error::NotAStructure)?;
    let structure = compacted_size(src).ok_or(Error::NotAStructure)?;
    let at = data_at(count).ok_or(Error::TooMany)?;
    let size = at.checked_add(structure).ok_or(Error::TooMany)?;
    if size > out.len() as u64 {
        return Err(Error::TooSmall);
    }
    let to = out.pointer();
    // SAFETY: all lies in the first `size` bytes of `out`, and the structure has its bytes.
    unsafe {
        to.cast::<[u8; 16]>().write(*driver);
        to.add(16).cast::<[u8; 16]>().write(*compatibility);
        to.add(32).cast::<[u64; 3]>().write_unaligned([size, structure, count]);
        for k in 0..count {
            let leaf = view.and_then(|v| v.leaf(k as u32));
            let handle = leaf.map_or(0, |leaf| Record::read(leaf).structure);
            to.add((HEAD + k * 8) as usize).cast::<u64>().write_unaligned(handle);
        }
        std::ptr::copy_nonoverlapping(src.pointer(), to.add(at as usize), structure as usize);
    }
    Ok(size)
}

/// The header of serialised bytes, if they are long enough for what it says.
pub fn serialized_header(from: Bytes) -> Option<Serialized> {
    if (from.len() as u64) < HEAD {
        return None;
    }
    // SAFETY: the first bytes; read once. A hostile address may have any alignment.
    let words = unsafe { from.pointer().cast::<[[u8; 8]; 7]>().read_volatile() }.map(u64::from_le_bytes);
    let uuid = |at: usize| {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&words[at].to_le_bytes());
        out[8..].copy_from_slice(&words[at + 1].to_le_bytes());
        out
    };
    let [size, deserialized_size, handles] = [words[4], words[5], words[6]];
    let fits = data_at(handles)?.checked_add(deserialized_size)? <= size && size <= from.len() as u64;
    fits.then_some(Serialized { driver: uuid(0), compatibility: uuid(2), size, deserialized_size, handles })
}

/// Makes the structure of serialised bytes. Its instances refer to the handles, which the application may have replaced.
pub fn deserialize(
    from: Bytes,
    driver: &[u8; 16],
    compatibility: &[u8; 16],
    dst: Bytes,
) -> Result<u64, Error> {
    let head = serialized_header(from).ok_or(Error::NotAStructure)?;
    if head.driver != *driver || head.compatibility != *compatibility {
        return Err(Error::NotAStructure);
    }
    if head.deserialized_size > dst.len() as u64 {
        return Err(Error::TooSmall);
    }
    let at = data_at(head.handles).ok_or(Error::NotAStructure)?;
    // SAFETY: both have the bytes, by the header's check and the one above.
    unsafe {
        std::ptr::copy_nonoverlapping(
            from.pointer().add(at as usize),
            dst.pointer(),
            head.deserialized_size as usize,
        )
    };
    // SAFETY: a part of `dst`'s memory.
    let made = unsafe { Bytes::new(dst.pointer(), head.deserialized_size as usize) };
    let (view, count) = instances(made).ok_or(Error::NotAStructure)?;
    if count != head.handles {
        return Err(Error::NotAStructure);
    }
    for k in 0..count {
        if let Some(leaf) = view.and_then(|v| v.leaf(k as u32)) {
            // SAFETY: a handle before `at`; a leaf of a top structure has `INSTANCE` bytes.
            unsafe {
                let handle = from.pointer().add((HEAD + k * 8) as usize).cast::<u64>().read_unaligned();
                leaf.add(96).cast::<u64>().write(handle);
            }
        }
    }
    Ok(head.deserialized_size)
}
