//! Windows: a section. Who waits for a word of it looks again after a while (`watched/windows.rs`).

use super::{BYTES, Kind, Payload};
use std::sync::atomic::AtomicU32;
pub use texel::memory::section::Section as Shared;

impl Payload {
    /// That of a handle, which stays the caller's; `None` if it is none of `kinds`.
    pub fn import(handle: isize, kinds: &[Kind]) -> Option<Payload> {
        Payload::opened(Shared::import(handle, BYTES as u64)?, kinds).ok()
    }

    /// That of a name.
    ///
    /// # Safety
    /// It ends in 0.
    pub unsafe fn import_named(name: *const u16, kinds: &[Kind]) -> Option<Payload> {
        // SAFETY: what the caller promises.
        let memory = unsafe { Shared::open(name, BYTES as u64) };
        Payload::opened(memory?, kinds).ok()
    }

    /// Another handle of it, the caller's.
    pub fn export(&self) -> Option<isize> {
        self.memory.export()
    }
}

pub fn wake(_: &AtomicU32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_share_a_payload_and_others_handles_are_none() {
        let a = Payload::new(Kind::Timeline, 5).unwrap();
        let handle = a.export().unwrap();
        let b = Payload::import(handle, &[Kind::Timeline]).unwrap();
        b.signal(9);
        b.signal(7);
        assert_eq!(a.value(), 9);
        assert!(Payload::import(handle, &[Kind::Binary, Kind::Fence]).is_none());
        assert!(Payload::import(0, &[Kind::Timeline]).is_none());
        let other = Shared::new(BYTES as u64).unwrap();
        assert!(Payload::import(other.export().unwrap(), &[Kind::Binary]).is_none(), "no payload");
    }
}
