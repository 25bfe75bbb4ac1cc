//! Where device memory lies, as waves see it.

/// Addresses of a device's memory, all of them mapped, and of sparse resources that may have holes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arena {
    /// The first address, and one past the last. What the device has beyond it the host knows ([`crate::Host::foreign`]).
    pub start: u64,
    pub end: u64,
    /// Sparse resources that may have holes, of whichever device: the first address, and bytes.
    holes: (u64, u64),
    /// Bytes from the first address to the last of such resources.
    span: u64,
}

impl Arena {
    /// No memory.
    pub const NONE: Arena = Arena::new((0x1000, 0x1000), (0, 0));

    /// `holes`: where resources may have some, after the end; first address and bytes.
    pub const fn new((start, end): (u64, u64), holes: (u64, u64)) -> Arena {
        let last = if holes.1 == 0 { end } else { holes.0 + holes.1 };
        Arena { start, end, holes, span: last - start }
    }

    /// With resources that may have holes in as many addresses after it.
    pub const fn of(start: u64, end: u64) -> Arena {
        Arena::new((start, end), (end, end - start))
    }

    /// Whether all the bytes are the device's memory.
    #[inline(always)]
    pub fn holds(&self, address: u64, bytes: u32) -> bool {
        address >= self.start && self.end.saturating_sub(address) >= bytes as u64 && address < self.end
    }

    /// Bytes from an address to the end; `None`: it lies outside.
    #[inline(always)]
    pub fn from(&self, address: u64) -> Option<u64> {
        (address >= self.start && address < self.end).then(|| self.end - address)
    }

    /// Whether an address is one of a resource that may have holes.
    #[inline(always)]
    pub fn may_have_holes(&self, address: u64) -> bool {
        address.wrapping_sub(self.holes.0) < self.holes.1
    }

    /// Whether counts take an address that the device may touch for one of its memory: anything else (workgroup memory, imported
    /// host memory) lies outside all that was reserved.
    #[inline(always)]
    pub fn counts(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.span
    }
}
