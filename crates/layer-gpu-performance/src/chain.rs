//! pNext chains: reading them, and copies that may be changed, for what the program passes stays as it is.

use crate::generated::sizes::SIZES;
use ash::vk;
use std::ffi::c_void;
use vk::TaggedStructure;

/// The structures of a chain.
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
            let here = (!at.is_null()).then_some(at)?;
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

/// `count` elements at `p`; empty where either is nothing.
///
/// # Safety
/// `p` is null or points to `count` elements that outlive the slice.
pub(crate) unsafe fn slice<'a, T>(p: *const T, count: u32) -> &'a [T] {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { if p.is_null() || count == 0 { &[] } else { std::slice::from_raw_parts(p, count as usize) } }
}

/// Bytes of a structure that may stand in the chains that the layer changes.
fn size(s_type: vk::StructureType) -> Option<usize> {
    if s_type == vk::StructureType::LOADER_DEVICE_CREATE_INFO {
        return Some(size_of::<crate::interface::CreateInfo<c_void>>());
    }
    let at = SIZES.binary_search_by_key(&s_type.as_raw(), |s| s.0).ok()?;
    Some(SIZES[at].1)
}

/// A chain whose structures are copies, up to the first of unknown size: from there on it is the program's own.
pub(crate) struct Chain {
    head: *mut vk::BaseOutStructure<'static>,
    /// Whole structures, 8-byte aligned as all are.
    copies: Vec<Box<[u64]>>,
    rest: *const c_void,
}

impl Chain {
    /// # Safety
    /// As [`iter`]; the copy's pointers are the originals'.
    pub unsafe fn copy(p_next: *const c_void) -> Chain {
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            let mut chain = Chain { head: std::ptr::null_mut(), copies: vec![], rest: std::ptr::null() };
            for s in iter(p_next) {
                let Some(bytes) = size((*s).s_type) else {
                    chain.rest = s.cast();
                    break;
                };
                let mut block = vec![0u64; bytes.div_ceil(8)].into_boxed_slice();
                std::ptr::copy_nonoverlapping(s.cast::<u8>(), block.as_mut_ptr().cast::<u8>(), bytes);
                chain.copies.push(block);
            }
            let mut next = chain.rest.cast_mut().cast::<vk::BaseOutStructure<'static>>();
            for block in chain.copies.iter_mut().rev() {
                let s = block.as_mut_ptr().cast::<vk::BaseOutStructure<'static>>();
                (*s).p_next = next;
                next = s;
            }
            chain.head = next;
            chain
        }
    }

    pub fn head(&self) -> *const c_void {
        self.head.cast()
    }

    /// The copy of the structure of type `T`. An error where the program's own is out of reach.
    pub fn find<T: TaggedStructure>(&mut self) -> Result<Option<&mut T>, vk::StructureType> {
        for block in &mut self.copies {
            let s = block.as_mut_ptr().cast::<vk::BaseOutStructure<'static>>();
            // SAFETY: a whole structure of its sType's size.
            unsafe {
                if (*s).s_type == T::STRUCTURE_TYPE {
                    return Ok(Some(&mut *s.cast::<T>()));
                }
            }
        }
        // SAFETY: the program's chain, alive during the call.
        match unsafe { find::<T>(self.rest) } {
            Some(_) => Err(unsafe { (*self.rest.cast::<vk::BaseInStructure>()).s_type }),
            None => Ok(None),
        }
    }

    /// Puts a structure at the head; it stays the caller's.
    pub fn push<T: TaggedStructure>(&mut self, s: &mut T) {
        let base = std::ptr::from_mut(s).cast::<vk::BaseOutStructure<'static>>();
        // SAFETY: every tagged structure begins so.
        unsafe { (*base).p_next = self.head };
        self.head = base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_bindings() {
        let sizes = [
            (
                vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE,
                size_of::<vk::PhysicalDeviceVulkan12Features>(),
            ),
            (vk::TimelineSemaphoreSubmitInfo::STRUCTURE_TYPE, size_of::<vk::TimelineSemaphoreSubmitInfo>()),
            (vk::DeviceGroupSubmitInfo::STRUCTURE_TYPE, size_of::<vk::DeviceGroupSubmitInfo>()),
            (vk::FrameBoundaryEXT::STRUCTURE_TYPE, size_of::<vk::FrameBoundaryEXT>()),
            (vk::PhysicalDeviceFeatures2::STRUCTURE_TYPE, size_of::<vk::PhysicalDeviceFeatures2>()),
            (vk::DeviceGroupDeviceCreateInfo::STRUCTURE_TYPE, size_of::<vk::DeviceGroupDeviceCreateInfo>()),
        ];
        for (s, bytes) in sizes {
            assert_eq!(size(s), Some(bytes), "{s:?}");
        }
        assert!(SIZES.is_sorted_by_key(|s| s.0));
    }

    #[test]
    fn a_copy_is_changed_and_the_original_stays() {
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut host = vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true);
        host.p_next = (&raw mut timeline).cast();
        // SAFETY: a valid chain.
        let mut chain = unsafe { Chain::copy((&raw const host).cast()) };
        let copy = chain.find::<vk::PhysicalDeviceTimelineSemaphoreFeatures>().unwrap().unwrap();
        copy.timeline_semaphore = vk::TRUE;
        let all: Vec<_> = unsafe { iter(chain.head()) }.collect();
        assert_eq!(all.len(), 2);
        assert_ne!(all[0].cast::<c_void>(), (&raw const host).cast());
        assert_eq!(timeline.timeline_semaphore, vk::FALSE);
        let found = unsafe { find::<vk::PhysicalDeviceHostQueryResetFeatures>(chain.head()) };
        assert_eq!(found.map(|f| f.host_query_reset), Some(vk::TRUE));
    }

    #[test]
    fn what_lies_behind_an_unknown_structure_is_the_programs_own() {
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut strange =
            vk::BaseOutStructure { s_type: vk::StructureType::from_raw(77), ..Default::default() };
        strange.p_next = (&raw mut timeline).cast();
        // SAFETY: a valid chain.
        let mut chain = unsafe { Chain::copy((&raw const strange).cast()) };
        let found = chain.find::<vk::PhysicalDeviceTimelineSemaphoreFeatures>();
        assert_eq!(found.err(), Some(vk::StructureType::from_raw(77)));
        assert!(matches!(chain.find::<vk::DeviceGroupDeviceCreateInfo>(), Ok(None)));
        let mut more = vk::PhysicalDeviceHostQueryResetFeatures::default();
        chain.push(&mut more);
        assert_eq!(unsafe { iter(chain.head()) }.count(), 3);
    }
}
