//! Operations that every CPU of an architecture has, so they need no level: hints about memory, and masks of warps.
//!
//! Stores past the caches are for data that exceeds them and is read again only later. A line that is written whole need not come
//! from memory first.

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

/// Ends what [`stream`] began: code that sees a later store sees these too.
pub fn streamed() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has it.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    }
}

/// Asks for the line of memory at an address, which may be any. It does nothing on a CPU without such an instruction.
#[inline(always)]
pub fn prefetch(p: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; every x86-64 CPU has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(p.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which no address makes a fault of.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) p, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = p;
}

/// Bytes of a large page.
pub const LARGE_PAGE: usize = 2 << 20;

/// Asks for large pages for what lies in so many bytes that have not been touched yet: the first touch of each small one costs as much as
/// some thousand instructions.
pub fn large_pages(from: *const u8, bytes: usize) {
    let first = (from as usize).next_multiple_of(LARGE_PAGE);
    let end = (from as usize).saturating_add(bytes) / LARGE_PAGE * LARGE_PAGE;
    if first < end {
        // SAFETY: advice; contents stay, wherever they are. Where it isn't taken nothing is lost.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::madvise(first as *mut _, end - first, libc::MADV_HUGEPAGE);
        }
    }
}

/// One bit for each word that is not zero.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn non_zero(m: &[u16; 16]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64; the array is 32 bytes.
    unsafe {
        let z = _mm_setzero_si128();
        let p = m.as_ptr() as *const __m128i;
        let a = _mm_cmpeq_epi16(_mm_loadu_si128(p), z);
        let b = _mm_cmpeq_epi16(_mm_loadu_si128(p.add(1)), z);
        !(_mm_movemask_epi8(_mm_packs_epi16(a, b)) as u32) & 0xFFFF
    }
}
/// One bit for each word that is not zero.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn non_zero(m: &[u16; 16]) -> u32 {
    m.iter().enumerate().fold(0, |l, (i, &x)| l | ((x != 0) as u32) << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_not_zero() {
        for bits in [0u32, 1, 0x8000, 0x1234, 0xFFFF] {
            let words = std::array::from_fn(|i| if bits >> i & 1 == 0 { 0 } else { 1 << i });
            assert_eq!(non_zero(&words), bits);
        }
    }

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
