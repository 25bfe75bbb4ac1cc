//! Stores past the caches: for what is more than these hold, and is read again only when it would be gone from them. A line that
//! is written whole need not come from memory first.

const LINE: usize = 64;

/// Copies bytes, whole lines of cache past the caches. Other threads are sure to see them only after [`streamed`].
///
/// # Safety
/// Both are good for the bytes, and do not overlap.
#[inline(always)]
pub unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    let head = to.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: within the bytes, says the caller (all below).
    unsafe {
        if head > 0 {
            to.copy_from_nonoverlapping(from, head);
        }
        for l in 0..lines {
            line(from.add(head + l * LINE), to.add(head + l * LINE));
        }
        if tail < bytes {
            to.add(tail).copy_from_nonoverlapping(from.add(tail), bytes - tail);
        }
    }
}

/// # Safety
/// Both are good for a line; `to` is one.
#[inline(always)]
unsafe fn line(from: *const u8, to: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's; every x86-64 CPU has these. A CPU gathers the four to one line.
    unsafe {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        let words = [0, 16, 32, 48].map(|at| _mm_loadu_si128(from.add(at).cast()));
        for (i, w) in words.into_iter().enumerate() {
            _mm_stream_si128(to.add(16 * i).cast(), w);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's.
    unsafe {
        to.copy_from_nonoverlapping(from, LINE)
    }
}

/// Ends what [`stream`] began: whoever sees a later store sees these too.
pub fn streamed() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has it.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_wherever_lines_begin() {
        let from: Vec<u8> = (0..1000).map(|i| (i * 7 % 251) as u8).collect();
        for [first, at, bytes] in
            [[0, 0, 0], [0, 0, 1], [3, 5, 59], [1, 0, 64], [0, 63, 66], [9, 17, 900], [0, 1, 128]]
        {
            let mut to = vec![255u8; 1100];
            let start = to.as_ptr().align_offset(LINE) + at;
            // SAFETY: both have as many.
            unsafe { stream(from.as_ptr().add(first), to.as_mut_ptr().add(start), bytes) };
            streamed();
            assert_eq!(to[start..start + bytes], from[first..first + bytes]);
            assert!(
                to[..start].iter().chain(&to[start + bytes..]).all(|b| *b == 255),
                "{first} {at} {bytes}"
            );
        }
    }
}
