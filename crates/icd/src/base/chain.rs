//! Reading and filling what applications pass by pointer: pNext chains, counted arrays, strings.

use crate::base::answer::Answer;
use std::ffi::{CStr, c_char, c_void};
use vk::TaggedStructure;

/// The structures of a chain, read-only.
///
/// # Safety
/// `p_next` is null or the head of a valid chain that outlives the iterator.
pub(crate) unsafe fn iter(
    p_next: *const c_void,
) -> impl Iterator<Item = *const vk::BaseInStructure<'static>> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let mut at = p_next.cast::<vk::BaseInStructure<'static>>();
        std::iter::from_fn(move || {
            if at.is_null() {
                return None;
            }
            let here = at;
            at = (*here).p_next;
            Some(here)
        })
    }
}

/// The structures of a chain that the driver fills.
///
/// # Safety
/// As [`iter`], and the structures are writable.
pub(crate) unsafe fn iter_mut(
    p_next: *mut c_void,
) -> impl Iterator<Item = *mut vk::BaseOutStructure<'static>> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let mut at = p_next.cast::<vk::BaseOutStructure<'static>>();
        std::iter::from_fn(move || {
            if at.is_null() {
                return None;
            }
            let here = at;
            at = (*here).p_next;
            Some(here)
        })
    }
}

/// The structure of type `T` in a chain.
///
/// # Safety
/// As [`iter`].
pub(crate) unsafe fn find<'a, T: TaggedStructure>(p_next: *const c_void) -> Option<&'a T> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { iter(p_next).find(|s| (**s).s_type == T::STRUCTURE_TYPE).map(|s| &*s.cast::<T>()) }
}

/// The structure of type `T` in a chain, to be filled.
///
/// # Safety
/// As [`iter_mut`].
pub(crate) unsafe fn find_mut<'a, T: TaggedStructure>(p_next: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { iter_mut(p_next).find(|s| (**s).s_type == T::STRUCTURE_TYPE).map(|s| &mut *s.cast::<T>()) }
}

/// `count` elements at `p`; empty where either is nothing.
///
/// # Safety
/// `p` is null or points to `count` elements that outlive the slice.
pub(crate) unsafe fn slice<'a, T>(p: *const T, count: u32) -> &'a [T] {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { if p.is_null() || count == 0 { &[] } else { std::slice::from_raw_parts(p, count as usize) } }
}

/// A copy of `count` elements at `p`, for what is looked at more than once: the program's memory may change meanwhile.
///
/// # Errors
/// There is no memory for it.
///
/// # Safety
/// `p` is null or points to `count` elements, of which any bits are values.
pub(crate) unsafe fn copied<T: Copy>(p: *const T, count: usize) -> Answer<Vec<T>> {
    let mut copy: Vec<T> = Vec::new();
    if !p.is_null() && count > 0 {
        copy.try_reserve_exact(count).map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
        // SAFETY: reserved; the caller's. Bytes, for they need not be aligned.
        unsafe {
            std::ptr::copy_nonoverlapping(p.cast::<u8>(), copy.as_mut_ptr().cast(), count * size_of::<T>());
            copy.set_len(count);
        }
    }
    Ok(copy)
}

/// A C string of the application; empty for null.
///
/// # Safety
/// `p` is null or a null-terminated string that outlives the result.
pub(crate) unsafe fn str<'a>(p: *const c_char) -> &'a CStr {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { if p.is_null() { c"" } else { CStr::from_ptr(p) } }
}

/// A C string of the application; `None` for null.
///
/// # Safety
/// As [`str`].
pub(crate) unsafe fn string<'a>(p: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller's.
    (!p.is_null()).then(|| unsafe { CStr::from_ptr(p) })
}

/// Writes `text` into a fixed array, cut where it does not fit, always terminated.
pub(crate) fn write_str<const N: usize>(out: &mut [c_char; N], text: &str) {
    out.fill(0);
    for (o, b) in out[..N - 1].iter_mut().zip(text.bytes()) {
        *o = b as c_char;
    }
}
