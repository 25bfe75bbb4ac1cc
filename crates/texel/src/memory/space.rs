//! Where devices' memory lies: each device has addresses of its own, a part of one large reserved range, so that "is this address this
//! device's memory" is one compare, and no shader of one device reaches memory of another.
//!
//! The range has two halves. A device has a part of the first one, and the part at the same place of the second one, which has sparse
//! resources with holes ([`super::sparse`]). A part can grow into the addresses that no device has; devices are placed so that there are
//! such addresses after each. Where a process's devices lie depends only on the order in which they are made and destroyed, so that
//! captured addresses can be replayed.

use super::system::{self, RESERVED};
use super::{Bound, DeviceMemory, GRANULE};
use crate::retried::Retried;
use ash::vk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};

/// Where it lies if that is free: the same in all processes, so that one can be given the addresses of another.
const HINT: *mut u8 = (32u64 << 40) as *mut u8;
/// What a device begins with in each half, unless little is left.
pub(super) const FIRST: u64 = 1 << 40;
/// Devices begin at multiples of it where there is room: the system's large pages.
const LARGE_PAGE: u64 = 2 << 20;

/// The reserved range.
pub(super) struct Reserve {
    pub base: u64,
    /// Bytes of each half.
    pub half: u64,
    /// Parts that devices have, by offset, with their sizes.
    taken: Mutex<BTreeMap<u64, u64>>,
}

/// The reserved range; `None` while the system has no address space for it.
pub(super) fn reserve() -> Option<&'static Reserve> {
    static RESERVE: Retried<Reserve> = Retried::new();
    RESERVE.get(|| {
        // As much as there is: it may be limited (ulimit -v). As many bytes for the memory of all devices as for sparse resources.
        let mut half = RESERVED;
        while half >= GRANULE {
            // Elsewhere the system aligns it to its pages alone.
            let bytes = 2 * half + GRANULE;
            if let Some(p) = system::reserve(HINT, bytes) {
                let base = (p as u64).next_multiple_of(GRANULE);
                return Some(Reserve { base, half, taken: Mutex::default() });
            }
            half /= 2;
        }
        None
    })
}

impl Reserve {
    /// A part for one more device: offset and bytes. `None`: there are no addresses left.
    fn claim(&self) -> Option<(u64, u64)> {
        let mut taken = self.taken.lock();
        let (mut at, mut room, mut from) = (0, 0, 0);
        for (next, bytes) in taken.iter().map(|(&a, &n)| (a, n)).chain([(self.half, 0)]) {
            if next - from > room {
                (at, room) = (from, next - from);
            }
            from = next + bytes;
        }
        if at > 0 {
            // Half of it is left to the device before.
            let align = if room >= 1 << 30 { LARGE_PAGE } else { GRANULE };
            let left = (room / 2).next_multiple_of(align);
            at += left;
            room = room.saturating_sub(left);
        }
        if room < GRANULE {
            return None;
        }
        let bytes = (room / 2 / GRANULE * GRANULE).clamp(GRANULE, FIRST);
        taken.insert(at, bytes);
        Some((at, bytes))
    }
}

/// Which addresses memory is to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    Anywhere,
    /// Far from those, so that a replay finds them free, whatever else it allocates before.
    Apart,
    /// From here on, as in an earlier run.
    At(u64),
}

/// Consecutive addresses of a device, and which of them are free.
pub(super) struct Stretch {
    pub base: u64,
    size: AtomicU64,
    /// Free ranges by offset, coalesced.
    free: Mutex<BTreeMap<u64, u64>>,
}

impl Stretch {
    fn new(base: u64, size: u64) -> Stretch {
        Stretch { base, size: AtomicU64::new(size), free: Mutex::new(BTreeMap::from([(0, size)])) }
    }

    fn size(&self) -> u64 {
        self.size.load(Relaxed)
    }

    pub fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.size()
    }

    fn take(&self, size: u64) -> Option<u64> {
        let mut free = self.free.lock();
        let (&at, &len) = free.iter().find(|&(_, &len)| len >= size)?;
        free.remove(&at);
        if len > size {
            free.insert(at + size, len - size);
        }
        Some(self.base + at)
    }

    /// As [`Stretch::take`], from the other end.
    fn take_last(&self, size: u64) -> Option<u64> {
        let mut free = self.free.lock();
        let (&at, len) = free.iter_mut().rfind(|(_, len)| **len >= size)?;
        *len -= size;
        let found = at + *len;
        if *len == 0 {
            free.remove(&at);
        }
        Some(self.base + found)
    }

    /// As [`Stretch::take`], of the range that begins at `address`, if all of it is free.
    fn take_at(&self, address: u64, size: u64) -> Option<u64> {
        if !self.holds(address) || !address.is_multiple_of(GRANULE) {
            return None;
        }
        let wanted = address - self.base;
        let mut free = self.free.lock();
        let (&at, &len) = free.range(..=wanted).next_back()?;
        let before = wanted - at;
        let after = len.checked_sub(before)?.checked_sub(size)?;
        free.remove(&at);
        if before > 0 {
            free.insert(at, before);
        }
        if after > 0 {
            free.insert(wanted + size, after);
        }
        Some(address)
    }

    /// How many bytes more there must be after the last for [`Stretch::take`] or [`Stretch::take_at`] to find so many.
    fn missing(&self, size: u64, wanted: Wanted) -> Option<u64> {
        let end = self.size();
        let missing = match wanted {
            Wanted::At(at) if !at.is_multiple_of(GRANULE) => return None,
            Wanted::At(at) => at.checked_sub(self.base)?.checked_add(size)?.checked_sub(end)?,
            Wanted::Anywhere | Wanted::Apart => {
                let free = self.free.lock();
                let last = free.iter().next_back().filter(|(at, len)| *at + *len == end);
                size - last.map_or(0, |(_, len)| *len).min(size)
            }
        };
        Some(missing).filter(|&m| m > 0)
    }

    pub fn give(&self, address: u64, size: u64) {
        let mut free = self.free.lock();
        let (mut at, mut len) = (address - self.base, size);
        if let Some((&p, &pl)) = free.range(..at).next_back()
            && p + pl == at
        {
            free.remove(&p);
            at = p;
            len += pl;
        }
        if let Some(&nl) = free.get(&(at + len)) {
            free.remove(&(at + len));
            len += nl;
        }
        free.insert(at, len);
    }

    fn grow(&self, bytes: u64) {
        let old = self.size();
        self.give(self.base + old, bytes);
        self.size.store(old + bytes, Relaxed);
    }

    /// Whether all of it is free.
    fn is_empty(&self) -> bool {
        self.free.lock().get(&0) == Some(&self.size())
    }
}

/// The addresses of one device, and what lives there.
pub struct AddressSpace {
    /// Memory, and sparse resources without holes.
    pub(super) own: Stretch,
    /// Sparse resources with holes.
    pub(super) holed: Stretch,
    /// Live allocations by address: size, and the allocation.
    live: Mutex<BTreeMap<u64, (u64, Weak<DeviceMemory>)>>,
    /// Imported host memory, and memory at addresses that were [adopted](AddressSpace::adopt): (address, size, allocation).
    foreign: Mutex<Vec<(u64, u64, Weak<DeviceMemory>)>>,
}

impl AddressSpace {
    /// A device's. `None`: the system has no address space left.
    pub fn new() -> Option<Arc<AddressSpace>> {
        let reserve = reserve()?;
        let (at, size) = reserve.claim()?;
        let own = Stretch::new(reserve.base + at, size);
        let holed = Stretch::new(reserve.base + reserve.half + at, size);
        Some(Arc::new(AddressSpace { own, holed, live: Mutex::default(), foreign: Mutex::default() }))
    }

    /// Addresses in which the device's memory lives, but for sparse resources with holes: [start, end). The end moves up when they are used up.
    pub fn arena(&self) -> (u64, u64) {
        (self.own.base, self.own.base + self.own.size())
    }

    /// Addresses for so many bytes.
    ///
    /// # Errors
    /// `ERROR_OUT_OF_DEVICE_MEMORY`, `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`
    pub(super) fn find(&self, of: &Stretch, size: u64, wanted: Wanted) -> Result<*mut u8, vk::Result> {
        loop {
            let found = match wanted {
                Wanted::At(at) => of.take_at(at, size),
                Wanted::Apart => of.take_last(size),
                Wanted::Anywhere => of.take(size),
            };
            if let Some(at) = found {
                return Ok(at as *mut u8);
            }
            if !of.missing(size, wanted).is_some_and(|bytes| self.grow(bytes)) {
                return match wanted {
                    Wanted::At(at) if self.adopt(of, at, size) => Ok(at as *mut u8),
                    Wanted::At(_) => Err(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
                    Wanted::Anywhere | Wanted::Apart => Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
                };
            }
        }
    }

    /// Adds so many bytes at least after the last, in both halves. False: other devices are there.
    fn grow(&self, bytes: u64) -> bool {
        let Some(reserve) = reserve() else { return false };
        let mut taken = reserve.taken.lock();
        let at = self.own.base - reserve.base;
        let size = self.own.size();
        let next = taken.range(at + 1..).next().map_or(reserve.half, |(&a, _)| a);
        let room = next - at - size;
        if bytes > room {
            return false;
        }
        // Not a little each time; not all, which other devices may want.
        let more = bytes.max((room / 2).min(size) / GRANULE * GRANULE).next_multiple_of(GRANULE).min(room);
        taken.insert(at, size + more);
        self.own.grow(more);
        self.holed.grow(more);
        true
    }

    /// Takes addresses away from the device's part, of the same half, if no device has them: another device of this process, or of the one in
    /// which they were captured, had its part there.
    fn adopt(&self, of: &Stretch, at: u64, size: u64) -> bool {
        let Some(reserve) = reserve() else { return false };
        let half = if std::ptr::eq(of, &self.own) { reserve.base } else { reserve.base + reserve.half };
        let Some(offset) = at.checked_sub(half).filter(|o| o.is_multiple_of(GRANULE)) else { return false };
        let Some(end) = offset.checked_add(size).filter(|end| *end <= reserve.half) else { return false };
        let mut taken = reserve.taken.lock();
        let before = taken.range(..=offset).next_back().map_or(0, |(&a, &n)| a + n);
        let after = taken.range(offset..).next().map_or(reserve.half, |(&a, _)| a);
        let free = before <= offset && end <= after;
        if free {
            taken.insert(offset, size);
        }
        free
    }

    /// The device's part that has an address; `None` of one that was adopted.
    fn part(&self, address: u64) -> Option<&Stretch> {
        [&self.own, &self.holed].into_iter().find(|s| s.holds(address))
    }

    /// Addresses that [`AddressSpace::find`] gave, and that nothing is mapped to.
    pub(super) fn give(&self, address: u64, size: u64) {
        match self.part(address) {
            Some(part) => part.give(address, size),
            None => {
                if let Some(reserve) = reserve() {
                    let offset = (address - reserve.base) % reserve.half;
                    reserve.taken.lock().remove(&offset);
                }
            }
        }
    }

    /// True when all the bytes lie where the device's memory lives: in the arena, among sparse resources, or in host memory that was imported.
    pub fn is_live(&self, address: u64, bytes: u64) -> bool {
        self.from(address).is_some_and(|live| bytes <= live)
    }

    /// Bytes from `address` to the end of the device's memory of one kind, if it lies there.
    pub fn from(&self, address: u64) -> Option<u64> {
        for part in [&self.own, &self.holed] {
            if let Some(left) = part.size().checked_sub(address.wrapping_sub(part.base)).filter(|&n| n > 0) {
                return Some(left);
            }
        }
        let each = self.foreign.lock();
        each.iter().filter_map(|&(a, n, _)| n.checked_sub(address.checked_sub(a)?)).max()
    }

    /// True when all the bytes lie in one live allocation. Slower than a compare with [`AddressSpace::arena`], for what is written seldom.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        self.at(address).is_some_and(|b| bytes <= b.memory.size() - b.offset)
    }

    /// The allocation that an address lies in, and where.
    pub fn at(&self, address: u64) -> Option<Bound> {
        // Upgraded under the lock, dropped outside: an allocation's end takes it.
        let own = self.live.lock().range(..=address).next_back().and_then(|(_, (_, m))| m.upgrade());
        let found = own.filter(|m| address - m.ptr() as u64 <= m.size()).or_else(|| {
            let within = |&&(a, n, _): &&(u64, u64, Weak<DeviceMemory>)| address >= a && address - a <= n;
            self.foreign.lock().iter().find(within).and_then(|(_, _, m)| m.upgrade())
        })?;
        let offset = address - found.ptr() as u64;
        Some(Bound { memory: found, offset })
    }

    /// Memory is known by its address from here on.
    pub(super) fn add(&self, memory: &Arc<DeviceMemory>) {
        self.live.lock().insert(memory.ptr() as u64, (memory.size(), Arc::downgrade(memory)));
        if self.part(memory.ptr() as u64).is_none() {
            self.add_foreign(memory);
        }
    }

    /// What has this address as its first.
    pub(super) fn first_at(&self, address: u64) -> Option<Arc<DeviceMemory>> {
        self.live.lock().get(&address).and_then(|(_, memory)| memory.upgrade())
    }

    pub(super) fn add_foreign(&self, memory: &Arc<DeviceMemory>) {
        self.foreign.lock().push((memory.ptr() as u64, memory.size(), Arc::downgrade(memory)));
    }

    pub(super) fn remove(&self, memory: &DeviceMemory) {
        self.live.lock().remove(&(memory.ptr() as u64));
        if self.part(memory.ptr() as u64).is_none() {
            self.remove_foreign(memory);
        }
    }

    pub(super) fn remove_foreign(&self, memory: &DeviceMemory) {
        let mut foreign = self.foreign.lock();
        let of = (memory.ptr() as u64, memory.size());
        if let Some(i) = foreign.iter().position(|f| (f.0, f.1) == of) {
            foreign.swap_remove(i);
        }
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        // All memory is gone, for it keeps this. What the system did not unmap then, the next device must not find.
        let emptied = [&self.own, &self.holed]
            .into_iter()
            .all(|s| s.is_empty() || system::reset(s.base as *mut u8, s.size()));
        if emptied && let Some(reserve) = reserve() {
            reserve.taken.lock().remove(&(self.own.base - reserve.base));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Arc<AddressSpace> {
        AddressSpace::new().expect("address space")
    }

    #[test]
    fn devices_have_addresses_of_their_own() {
        let many: Vec<_> = (0..200).map(|_| space()).collect();
        let least = reserve().expect("addresses").half >> 13;
        let mut all: Vec<_> = many.iter().map(|s| s.arena()).collect();
        all.sort();
        assert!(all.iter().all(|(start, end)| end - start >= least), "much for each: {all:x?}");
        assert!(all.windows(2).all(|w| w[0].1 <= w[1].0), "none twice: {all:x?}");
        // Sparse resources with holes lie apart too.
        let mut holed: Vec<_> = many.iter().map(|s| (s.holed.base, s.holed.base + s.holed.size())).collect();
        holed.sort();
        assert!(holed.windows(2).all(|w| w[0].1 <= w[1].0) && holed[0].0 >= all[199].1);
    }

    #[cfg(unix)]
    #[test]
    fn memory_is_its_devices_alone() {
        let (a, b) = (space(), space());
        let host = vec![0u8; 4096];
        let own = DeviceMemory::allocate(&a, 100, 0, true).expect("memory");
        // SAFETY: the vector outlives it.
        let imported = unsafe { DeviceMemory::import_host(&a, host.as_ptr().cast_mut(), 4096, 0) };
        let sparse = [true, false].map(|holes| DeviceMemory::sparse(&a, 100, holes).expect("addresses"));
        let stored = DeviceMemory::stored(&a, 100, 0).expect("memory");
        for m in [&own, &imported, &sparse[0], &sparse[1], &stored] {
            let at = m.ptr() as u64;
            assert!(a.is_live(at, 100) && a.holds(at, 100) && a.at(at).is_some() && a.from(at).is_some());
            assert!(!b.is_live(at, 1) && !b.holds(at, 1) && b.at(at).is_none() && b.from(at).is_none());
        }
        // What both have each finds at its own address.
        let both = DeviceMemory::import_fd(&b, own.export().expect("a descriptor"), 100, 0).expect("memory");
        assert!(b.is_live(both.ptr() as u64, 100) && !a.is_live(both.ptr() as u64, 1));
        // SAFETY: the vector outlives it.
        let again = unsafe { DeviceMemory::import_host(&b, host.as_ptr().cast_mut(), 4096, 0) };
        assert!(b.is_live(host.as_ptr() as u64, 4096));
        drop(imported);
        assert!(!a.is_live(host.as_ptr() as u64, 1) && b.is_live(host.as_ptr() as u64, 4096));
        drop(again);
        assert!(!b.is_live(host.as_ptr() as u64, 1));
    }

    #[test]
    fn what_a_device_had_the_next_one_finds_empty() {
        for _ in 0..100 {
            let a = space();
            let m = DeviceMemory::allocate(&a, 4096, 0, cfg!(unix)).expect("memory");
            // SAFETY: within what the test has made.
            unsafe {
                assert_eq!(*m.ptr(), 0);
                *m.ptr() = 7;
            }
            // Memory may outlive what the device's objects knew of it.
            drop(a);
            // SAFETY: as above.
            assert_eq!(unsafe { *m.ptr() }, 7);
        }
    }

    #[test]
    fn addresses_that_are_used_up_grow() {
        let a = space();
        let (start, end) = a.arena();
        let all = DeviceMemory::sparse(&a, end - start - GRANULE, false).expect("all that there is");
        assert_eq!(all.ptr() as u64, start);
        let more = DeviceMemory::allocate(&a, 100, 0, false).expect("more than there was");
        assert!(more.ptr() as u64 >= end && a.arena().1 > end);
        // SAFETY: within what the test has made.
        unsafe { *more.ptr() = 1 };
        assert!(a.is_live(more.ptr() as u64, 100));
        let none = Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        assert_eq!(DeviceMemory::sparse(&a, RESERVED, false).err(), none);
        // An address that no device has is given to the device that asks for it.
        let b = space();
        let beyond = b.arena().1 + 16 * GRANULE;
        let at = DeviceMemory::allocate_at(&b, 100, 0, false, Wanted::At(beyond))
            .expect("an address that is free");
        assert_eq!(at.ptr() as u64, beyond);
        let wrong = Some(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
        let of_a = more.ptr() as u64 + GRANULE;
        assert_eq!(DeviceMemory::allocate_at(&b, 100, 0, false, Wanted::At(of_a)).err(), wrong, "another's");
    }
}
