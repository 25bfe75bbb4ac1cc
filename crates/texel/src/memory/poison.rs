//! What memory holds that nothing has written, where that is to show (`TUFF_UNDEFINED=poison`, and while shaders are sanitised).
//!
//! All words of it are one: a float that no arithmetic makes (a signalling NaN), a large integer, a loud colour. A copy of it is as
//! undefined as the original, so nobody needs to follow transfers. Two neighbouring words that hold it are taken for undefined ones.

use super::{Backing, DeviceMemory, system};
use crate::retried::Retried;

pub const WORD: u32 = 0x7FA1_00FF;
const BYTES: [u8; 4] = WORD.to_le_bytes();
/// Words that are looked at together.
const GRANULE: u64 = 8;
/// Bytes of the file that fresh memory is mapped from, until it is written.
const PATTERN: u64 = 16 << 20;
/// Memory that cannot be mapped so is filled up to this size.
const MOST: u64 = 1 << 30;

/// Whether undefined contents are to show.
#[inline]
pub fn wanted() -> bool {
    settings::get().poisons()
}

/// The byte at an address that nothing has written.
#[inline]
fn byte(address: u64) -> u8 {
    BYTES[(address & 3) as usize]
}

/// Makes bytes undefined.
///
/// # Safety
/// They are memory of the device that nobody else uses now.
pub unsafe fn fill(at: *mut u8, bytes: u64) {
    let (from, end) = (at as u64, at as u64 + bytes);
    let whole = (from.next_multiple_of(4).min(end), end & !3);
    let one = |a: u64| {
        // SAFETY: one of the caller's bytes.
        unsafe { (a as *mut u8).write(byte(a)) }
    };
    (from..whole.0).for_each(one);
    if whole.0 < whole.1 {
        // SAFETY: whole words among the caller's bytes.
        let words = unsafe {
            std::slice::from_raw_parts_mut(whole.0 as *mut u32, ((whole.1 - whole.0) / 4) as usize)
        };
        words.fill(WORD);
        (whole.1..end).for_each(one);
    } else {
        (whole.0..end).for_each(one);
    }
}

/// Whether nothing has written these bytes, nor others of the granules that they lie in.
///
/// # Safety
/// They lie in memory of the device.
#[inline]
pub unsafe fn holds(at: *const u8, bytes: u64) -> bool {
    let (from, end) = (at as u64 / GRANULE * GRANULE, (at as u64 + bytes).next_multiple_of(GRANULE));
    let pattern = WORD as u64 | (WORD as u64) << 32;
    // SAFETY: memory is made of pages, so whole granules of it are there.
    (from..end).step_by(GRANULE as usize).all(|a| unsafe { (a as *const u64).read_volatile() } == pattern)
}

/// A file that is full of the pattern.
fn pattern() -> Option<&'static system::File> {
    static PATTERN_FILE: Retried<system::File> = Retried::new();
    PATTERN_FILE.get(|| {
        let file = system::file(PATTERN)?;
        let at = system::map_file(std::ptr::null_mut(), PATTERN, &file, 0, false)?;
        // SAFETY: mapped just now, for this alone.
        unsafe {
            fill(at, PATTERN);
            system::unmap(at, PATTERN);
        }
        Some(file)
    })
}

impl DeviceMemory {
    /// Makes all of it undefined, before anybody has used it.
    pub fn poison(&self) {
        match self.backing {
            Backing::Anonymous if self.map_pattern().is_some() => {}
            Backing::Anonymous | Backing::File(_) | Backing::Stored if self.reserved <= MOST => {
                // SAFETY: the allocation's own bytes, which nobody uses yet.
                unsafe { fill(self.ptr, self.reserved) }
            }
            _ => {}
        }
    }

    /// Its pages are the pattern's until they are written, and cost nothing before.
    fn map_pattern(&self) -> Option<()> {
        let file = pattern()?;
        let mut at = 0;
        while at < self.reserved {
            let part = (self.reserved - at).min(PATTERN);
            let to = self.ptr.wrapping_add(at as usize);
            system::map_file(to, part, file, 0, true)?;
            at += part;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::space;

    #[test]
    fn fresh_memory_is_undefined_until_it_is_written() {
        let m = DeviceMemory::allocate(space(), 40 << 20, 0, false).unwrap();
        m.poison();
        // SAFETY: within the allocation.
        unsafe {
            for at in [0, (16 << 20) - 4, (40 << 20) - 8] {
                assert!(holds(m.ptr().add(at), 8), "{at}");
            }
            m.ptr().add(13).write(1);
            assert!(!holds(m.ptr().add(8), 4) && holds(m.ptr(), 8) && holds(m.ptr().add(16), 1));
            fill(m.ptr().add(13), 1);
            assert!(holds(m.ptr().add(8), 4), "the byte belongs to its address");
        }
        let other = DeviceMemory::allocate(space(), 4096, 0, cfg!(unix)).unwrap();
        other.poison();
        // SAFETY: as above.
        unsafe { assert!(holds(other.ptr(), 4096)) }
        drop(m);
        let again = DeviceMemory::allocate(space(), 40 << 20, 0, false).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { *again.ptr() }, 0, "its pages do not outlive it");
    }

    #[test]
    fn any_bytes_are_filled_by_their_addresses() {
        let mut all = [0u32; 8];
        let at = all.as_mut_ptr().cast::<u8>();
        // SAFETY: within the array.
        unsafe {
            fill(at.add(5), 2);
            fill(at.add(11), 10);
        }
        let bytes: Vec<u8> = all.iter().flat_map(|w| w.to_le_bytes()).collect();
        for (i, b) in bytes.iter().enumerate() {
            let filled = (5..7).contains(&i) || (11..21).contains(&i);
            assert_eq!(*b, if filled { BYTES[i % 4] } else { 0 }, "{i}");
        }
    }
}
