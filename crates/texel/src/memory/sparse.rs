//! Sparse resources: ranges of addresses onto which parts of memory are mapped, a [block](BLOCK) at a time, so that what reads and writes
//! them does so as with any memory.
//!
//! Memory that can be bound is a part of one file that only the process has (the store): a block of it can be mapped in several places.
//! A resource that need not be bound everywhere lies in a half of the reserved range of its own. There a hole is memory that reads as zero
//! and that nobody writes: who stores asks [`resident`] or [`stretches`] first, and only if the address [lies there](may_have_holes).

use super::space::{FIRST, reserve};
use super::{AddressSpace, Backing, DeviceMemory, GRANULE, Wanted, system};
use crate::retried::Retried;
use ash::vk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

/// Bytes that are bound together: `VkMemoryRequirements::alignment` of sparse resources, and of a standard sparse image block
/// (§ Standard Sparse Image Block Shapes).
pub const BLOCK: u64 = 64 << 10;
const _: () = assert!(BLOCK == GRANULE);

/// `VkPhysicalDeviceLimits::sparseAddressSpaceSize`: what a device has of it at least, but where
/// address space is limited or a process has many devices.
pub const ADDRESS_SPACE: u64 = if THERE { FIRST / 2 } else { 0 };

/// Whether the system lets memory be bound to parts of resources.
pub const THERE: bool = system::MAPS_PARTS;

/// The file of memory that can be bound: the reserved range's first half, byte by byte.
fn store() -> Option<&'static system::File> {
    static STORE: Retried<system::File> = Retried::new();
    STORE.get(|| system::file(reserve()?.half))
}

/// The pages of a part of the store go back to the system; it reads as zero from now on.
pub(super) fn empty(address: u64, bytes: u64) {
    let (Some(file), Some(reserve)) = (store(), reserve()) else { return };
    system::punch(file, address - reserve.base, bytes);
}

/// A bit for each block of the second half: whether memory is bound.
fn bits() -> Option<&'static [AtomicU64]> {
    static BITS: Retried<&'static [AtomicU64]> = Retried::new();
    let make = || {
        let words = (reserve()?.half / BLOCK).div_ceil(64);
        let p = system::fresh(std::ptr::null_mut(), words * 8)?;
        // SAFETY: zeroed words that are never unmapped.
        Some(unsafe { std::slice::from_raw_parts(p.cast::<AtomicU64>(), words as usize) })
    };
    BITS.get(make).copied()
}

/// Where resources of all devices lie that may have holes: first address and bytes.
#[inline]
pub fn holed() -> (u64, u64) {
    static HOLED: OnceLock<(u64, u64)> = OnceLock::new();
    match HOLED.get() {
        Some(h) => *h,
        None => match reserve() {
            Some(r) => *HOLED.get_or_init(|| (r.base + r.half, r.half)),
            None => (0, 0),
        },
    }
}

/// Whether an address is one of a resource that may have holes.
#[inline]
pub fn may_have_holes(p: *const u8) -> bool {
    let (base, bytes) = holed();
    (p as u64).wrapping_sub(base) < bytes
}

/// Whether memory is bound at an address: always, but in the holes of sparse resources.
#[inline]
pub fn resident(p: *const u8) -> bool {
    let (base, bytes) = holed();
    let at = (p as u64).wrapping_sub(base);
    at >= bytes || is_bound(at / BLOCK)
}

fn is_bound(block: u64) -> bool {
    bits().is_some_and(|b| {
        b.get((block / 64) as usize).is_some_and(|w| w.load(Relaxed) >> (block % 64) & 1 != 0)
    })
}

/// Which lanes of the mask have memory at `base + at` for `bytes` of a texel, whose size is a power of two that its address is a multiple of.
pub fn resident_lanes(base: *const u8, at: &[u64; 16], mask: u16) -> u16 {
    if !may_have_holes(base) {
        return mask;
    }
    let place = |l: usize| base.wrapping_add(at[l & 15] as usize);
    let (mut left, mut there) = (mask, 0);
    while left != 0 {
        // Most often all are in one block.
        let first = place(left.trailing_zeros() as usize);
        let mut same = 0;
        for l in 0..16 {
            same |= ((place(l) as u64 / BLOCK == first as u64 / BLOCK) as u16) << l;
        }
        same &= left;
        left &= !same;
        there |= if resident(first) { same } else { 0 };
    }
    there
}

/// Calls `each(offset, bytes)` for the stretches of `p .. p + bytes` that have memory: once for all of it, if none can be without.
#[inline]
pub fn stretches(p: *const u8, bytes: usize, mut each: impl FnMut(usize, usize)) {
    if !may_have_holes(p) {
        return each(0, bytes);
    }
    let mut at = 0;
    while at < bytes {
        let here = p.wrapping_add(at);
        let n = (BLOCK - here as u64 % BLOCK).min((bytes - at) as u64) as usize;
        if resident(here) {
            each(at, n);
        }
        at += n;
    }
}

/// Copies bytes, which may overlap, to where there is memory.
///
/// # Safety
/// As [`std::ptr::copy`].
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: parts of what the caller has.
    stretches(to, bytes, |at, n| unsafe { std::ptr::copy(from.add(at), to.add(at), n) });
}

/// What a part of a resource is bound to.
struct Bound {
    bytes: u64,
    memory: Arc<DeviceMemory>,
    offset: u64,
}

/// What is bound to a resource's addresses, by offset, and how many [mappings] that takes.
#[derive(Default)]
pub struct Table {
    bound: Mutex<BTreeMap<u64, Bound>>,
    mappings: AtomicUsize,
}

/// Mappings that tables have made of the process's limited number of them, and those that binds under way may make.
static MAPPINGS: AtomicUsize = AtomicUsize::new(0);

/// How many there may be: most of what the system gives a process (vm.max_map_count), for the rest of it needs some too.
fn most_mappings() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| {
        let told = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
        let all = told.and_then(|t| t.trim().parse::<usize>().ok()).unwrap_or(65530);
        all - all / 4
    })
}

/// Room for mappings that binds may make; given back when dropped.
pub struct Room(usize);

impl Room {
    /// For so many. `None`: there are too many.
    pub fn new(n: usize) -> Option<Room> {
        let fits = |now: usize| now.checked_add(n).filter(|&all| all <= most_mappings());
        MAPPINGS.fetch_update(SeqCst, SeqCst, fits).ok().map(|_| Room(n))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        MAPPINGS.fetch_sub(self.0, SeqCst);
    }
}

/// Mappings of a part of a table: of what is bound, where neither addresses nor memory go on, and of holes between.
fn mappings(table: &BTreeMap<u64, Bound>, from: u64, to: u64) -> usize {
    let mut n = 0;
    let mut before: Option<(u64, &Bound)> = None;
    for (&at, b) in table.range(from..to) {
        n += match before {
            Some((a, p)) if a + p.bytes == at => {
                let goes_on = p.memory.ptr as u64 + p.offset + p.bytes == b.memory.ptr as u64 + b.offset;
                !goes_on as usize
            }
            _ => 2,
        };
        before = Some((at, b));
    }
    n
}

impl Table {
    /// Replaces what is bound to `at .. at + bytes`.
    fn replace(
        &self,
        at: u64,
        bytes: u64,
        to: Option<(Arc<DeviceMemory>, u64)>,
        map: impl FnOnce() -> bool,
    ) -> bool {
        let mut gone = vec![];
        let mut table = self.bound.lock();
        let end = at + bytes;
        let first = table.range(..at).next_back().map_or(at, |(&a, _)| a);
        // What remains of one that is cut may come to begin at the end.
        let last = table.range(end..).next().map_or(end, |(&a, _)| a) + 1;
        let before = mappings(&table, first, last);
        // What reaches in from below, and what begins within: their ends stay.
        let reaches = table.range(..at).next_back().filter(|(a, b)| *a + b.bytes > at).map(|(&a, _)| a);
        let within: Vec<u64> = reaches.into_iter().chain(table.range(at..end).map(|(&a, _)| a)).collect();
        for a in within {
            let Some(b) = table.remove(&a) else { continue };
            if a < at {
                table.insert(a, Bound { bytes: at - a, memory: b.memory.clone(), offset: b.offset });
            }
            if a + b.bytes > end {
                let rest = Bound {
                    bytes: a + b.bytes - end,
                    memory: b.memory.clone(),
                    offset: b.offset + (end - a),
                };
                table.insert(end, rest);
            }
            gone.push(b);
        }
        if let Some((memory, offset)) = to {
            table.insert(at, Bound { bytes, memory, offset });
        }
        let after = mappings(&table, first, last);
        for count in [&MAPPINGS, &self.mappings] {
            count.fetch_add(after, SeqCst);
            count.fetch_sub(before, SeqCst);
        }
        let mapped = map();
        drop(table);
        // Memory that nobody else has goes now, which takes locks of its own.
        drop(gone);
        mapped
    }

    /// Everything is unbound, as the resource goes.
    pub(super) fn forget(&self, address: u64, bytes: u64) {
        let _gone = std::mem::take(&mut *self.bound.lock());
        MAPPINGS.fetch_sub(self.mappings.swap(0, SeqCst), SeqCst);
        mark(address, bytes, false);
    }
}

/// Notes for a range of addresses whether memory is bound.
fn mark(address: u64, bytes: u64, bound: bool) {
    let (base, size) = holed();
    let Some(at) = address.checked_sub(base).filter(|&at| at < size) else { return };
    let Some(words) = bits() else { return };
    let (mut block, end) = (at / BLOCK, (at + bytes).div_ceil(BLOCK));
    while block < end {
        let n = (64 - block % 64).min(end - block);
        let mask = (!0u64 >> (64 - n)) << (block % 64);
        if let Some(w) = words.get((block / 64) as usize) {
            if bound {
                w.fetch_or(mask, SeqCst)
            } else {
                w.fetch_and(!mask, SeqCst)
            };
        }
        block += n;
    }
}

impl DeviceMemory {
    /// Zeroed memory that sparse resources can be bound to.
    ///
    /// # Errors
    /// `ERROR_OUT_OF_DEVICE_MEMORY`
    pub fn stored(
        space: &Arc<AddressSpace>,
        size: u64,
        type_index: u32,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        Self::stored_at(space, size, type_index, Wanted::Anywhere)
    }

    /// As [`DeviceMemory::stored`], at this address.
    ///
    /// # Errors
    /// `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` besides
    pub fn stored_at(
        space: &Arc<AddressSpace>,
        size: u64,
        type_index: u32,
        wanted: Wanted,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        let none = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        let reserved = size.max(1).checked_next_multiple_of(GRANULE).ok_or(none)?;
        let own = &space.own;
        let (file, range) = store().zip(reserve()).ok_or(none)?;
        let ptr = space.find(own, reserved, wanted)?;
        let offset = ptr as u64 - range.base;
        if system::map_file(ptr, reserved, file, offset, false).is_none() {
            space.give(ptr as u64, reserved);
            return Err(none);
        }
        Ok(DeviceMemory::new(space, ptr, size, reserved, Backing::Stored, type_index).live())
    }

    /// Addresses of a sparse resource of `size` bytes, unbound; with `holes`, they stay zero where nothing is bound.
    ///
    /// # Errors
    /// `ERROR_OUT_OF_DEVICE_MEMORY`
    pub fn sparse(
        space: &Arc<AddressSpace>,
        size: u64,
        holes: bool,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        Self::sparse_at(space, size, holes, Wanted::Anywhere)
    }

    /// As [`DeviceMemory::sparse`], at this address.
    ///
    /// # Errors
    /// `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` besides
    pub fn sparse_at(
        space: &Arc<AddressSpace>,
        size: u64,
        holes: bool,
        wanted: Wanted,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        let none = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        // Vectors may be read a little beyond the last row: one block more than there is.
        let reserved =
            size.max(1).checked_next_multiple_of(BLOCK).and_then(|s| s.checked_add(BLOCK)).ok_or(none)?;
        if holes && bits().is_none() {
            return Err(none);
        }
        let stretch = if holes { &space.holed } else { &space.own };
        let ptr = space.find(stretch, reserved, wanted)?;
        let backing = Backing::Sparse(Table::default());
        Ok(DeviceMemory::new(space, ptr, size, reserved, backing, 0).live())
    }

    /// Whether it is the addresses of a sparse resource.
    pub fn is_sparse(&self) -> bool {
        matches!(self.backing, Backing::Sparse(_))
    }

    /// Bytes of it, from its first, that sparse resources can be bound to.
    pub fn bindable(&self) -> u64 {
        match &self.backing {
            Backing::Stored => self.reserved,
            // (Nobody can shrink it.)
            Backing::File(file) => system::length(file).unwrap_or(0) / BLOCK * BLOCK,
            _ => 0,
        }
    }

    /// How many mappings more it may take when so many parts of it are bound or unbound; 0 if it is no [such](DeviceMemory::is_sparse)
    /// resource.
    pub fn mappings_of(&self, parts: usize) -> usize {
        let Backing::Sparse(table) = &self.backing else { return 0 };
        // What is bound in the middle of something else makes one of its own, and cuts that in two; there are no more than blocks.
        let blocks = (self.reserved / BLOCK) as usize;
        parts.saturating_mul(2).min(blocks.saturating_sub(table.mappings.load(SeqCst)))
    }

    /// Binds a part of `memory` to (or unbinds, if there is none) `at .. at + bytes` of a sparse resource, all multiples of [`BLOCK`];
    /// the last block of memory may be short. False if the system has not mapped it, or if it is not [such](DeviceMemory::is_sparse) a
    /// resource, or the memory [has not so much](DeviceMemory::bindable), or either has no such part.
    pub fn bind_part(&self, at: u64, bytes: u64, to: Option<(Arc<DeviceMemory>, u64)>) -> bool {
        let Backing::Sparse(table) = &self.backing else { return false };
        let within = |size: u64, at: u64| {
            at.checked_add(bytes).is_some_and(|end| end <= size) && at.is_multiple_of(BLOCK)
        };
        if bytes == 0 || !bytes.is_multiple_of(BLOCK) || !within(self.reserved - BLOCK, at) {
            return false;
        }
        let address = self.ptr.wrapping_add(at as usize);
        let Some((memory, offset)) = to else {
            mark(address as u64, bytes, false);
            return table.replace(at, bytes, None, || system::reset(address, bytes));
        };
        let (file, first) = match &memory.backing {
            Backing::Stored => match store().zip(reserve()) {
                Some((file, range)) => (file, memory.ptr as u64 - range.base),
                None => return false,
            },
            Backing::File(file) => (file, 0),
            _ => return false,
        };
        if !within(memory.bindable(), offset) {
            return false;
        }
        let bind = || system::map_file(address, bytes, file, first + offset, false).is_some();
        let done = table.replace(at, bytes, Some((memory.clone(), offset)), bind);
        if done {
            mark(address as u64, bytes, true);
        } else {
            // What was there may be gone: zeros, for want of better.
            system::reset(address, bytes);
        }
        done
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::space;

    /// The word at an offset.
    fn word(m: &DeviceMemory, at: u64) -> *mut u32 {
        m.ptr().wrapping_add(at as usize).cast()
    }

    #[test]
    fn blocks_are_memory_in_several_places() {
        let memory = DeviceMemory::stored(space(), 3 * BLOCK, 0).unwrap();
        let (a, b) = (
            DeviceMemory::sparse(space(), 4 * BLOCK, true).unwrap(),
            DeviceMemory::sparse(space(), BLOCK, false).unwrap(),
        );
        // SAFETY (all): words of what the test has made.
        unsafe {
            assert_eq!(*word(&a, 0), 0, "a hole");
            assert!(!resident(a.ptr()) && resident(b.ptr()), "only what may have holes has any");
            *word(&memory, 2 * BLOCK) = 7;
            assert!(a.bind_part(BLOCK, 2 * BLOCK, Some((memory.clone(), BLOCK))));
            assert!(b.bind_part(0, BLOCK, Some((memory.clone(), 2 * BLOCK))));
            assert_eq!((*word(&a, 2 * BLOCK), *word(&b, 0)), (7, 7));
            *word(&b, 4) = 8;
            assert_eq!(*word(&a, 2 * BLOCK + 4), 8);
            let told: Vec<bool> =
                (0..4).map(|i| resident(a.ptr().wrapping_add((i * BLOCK) as usize))).collect();
            assert_eq!(told, [false, true, true, false]);
            // The middle of what is bound.
            assert!(a.bind_part(2 * BLOCK, BLOCK, None));
            assert_eq!((*word(&a, 2 * BLOCK), *word(&memory, 2 * BLOCK)), (0, 7));
            let mut found = vec![];
            stretches(a.ptr().wrapping_add(BLOCK as usize - 8), 2 * BLOCK as usize, |at, n| {
                found.push((at, n))
            });
            assert_eq!(found, [(8, BLOCK as usize)]);
            // Memory that is freed stays for as long as it is bound.
            drop(memory);
            assert_eq!(*word(&b, 0), 7);
        }
    }

    #[test]
    fn what_is_not_there_is_not_bound() {
        let memory = DeviceMemory::stored(space(), BLOCK + 1, 0).unwrap();
        let r = DeviceMemory::sparse(space(), 2 * BLOCK, true).unwrap();
        let to = |offset| Some((memory.clone(), offset));
        assert!(r.bind_part(0, 2 * BLOCK, to(0)), "the last block of memory may be short");
        assert!(!r.bind_part(0, 2 * BLOCK, to(BLOCK)), "beyond memory");
        assert!(!r.bind_part(BLOCK, 2 * BLOCK, to(0)), "beyond the resource");
        assert!(!r.bind_part(1, BLOCK, to(0)) && !r.bind_part(0, BLOCK, to(64)) && !r.bind_part(0, 1, to(0)));
        assert!(!r.bind_part(u64::MAX - BLOCK + 1, BLOCK, to(0)) && !r.bind_part(0, 0, to(0)));
        let plain = DeviceMemory::allocate(space(), BLOCK, 0, false).unwrap();
        assert!(!r.bind_part(0, BLOCK, Some((plain.clone(), 0))) && !plain.bind_part(0, BLOCK, to(0)));
    }

    #[test]
    fn mappings_are_counted() {
        let memory = DeviceMemory::stored(space(), 8 * BLOCK, 0).unwrap();
        let table = Table::default();
        let bind = |at: u64, n: u64, to: Option<u64>| {
            let to = to.map(|o| (memory.clone(), o * BLOCK));
            table.replace(at * BLOCK, n * BLOCK, to, || true);
            let n = mappings(&table.bound.lock(), 0, u64::MAX);
            assert_eq!(n, table.mappings.load(SeqCst));
            n
        };
        // What is bound and the hole before it; then what goes on; then what does not.
        assert_eq!(bind(2, 1, Some(0)), 2);
        assert_eq!(bind(3, 1, Some(1)), 2);
        assert_eq!(bind(4, 1, Some(5)), 3);
        // In the middle of it.
        assert_eq!(bind(3, 1, None), 4);
        assert_eq!(bind(0, 8, Some(0)), 2);
        assert_eq!(bind(1, 1, Some(7)), 4);
        assert_eq!(bind(0, 8, None), 0);
        assert!(Room::new(usize::MAX).is_none() && Room::new(most_mappings() + 1).is_none());
    }
}
