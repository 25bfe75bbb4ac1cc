//! Handles: every Vulkan object is a heap box whose first word is the loader's dispatch magic, followed by a
//! type tag and an alive mark, so a stale or foreign handle is noticed at entry instead of being dereferenced
//! as something it is not.

use ash::vk;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the loader expects in the first word of a dispatchable object (vk_icd.h, `ICD_LOADER_MAGIC`).
pub const LOADER_MAGIC: usize = 0x01CD_C0DE;
const ALIVE: u32 = 0x7u32 << 28 | 0x0FF_A11E;
const DEAD: u32 = 0xDEAD_DEAD;

#[repr(C)]
pub struct Boxed<T> {
    loader: usize,
    tag: i32,
    alive: AtomicU32,
    value: T,
}

/// A Rust type behind a Vulkan handle.
pub trait Object: Sized {
    /// The handle type of ash that names it.
    type Handle: vk::Handle;
}

fn tag<T: Object>() -> i32 {
    <T::Handle as vk::Handle>::TYPE.as_raw()
}

/// Boxes `value` and returns its handle. The handle owns it until [`destroy`].
pub fn create<T: Object>(value: T) -> T::Handle {
    let b = Box::new(Boxed { loader: LOADER_MAGIC, tag: tag::<T>(), alive: AtomicU32::new(ALIVE), value });
    vk::Handle::from_raw(Box::into_raw(b) as u64)
}

/// The object behind `handle`, or `None` (with a line in the log) when it is null, destroyed or of another type.
///
/// # Safety
/// `handle` is null or was returned by [`create`]; a destroyed one is recognised as long as its memory has not
/// been handed out again.
pub unsafe fn get<'a, T: Object>(handle: T::Handle) -> Option<&'a T> {
    let raw = vk::Handle::as_raw(handle);
    if raw == 0 || raw % 8 != 0 {
        return None;
    }
    let b = &*(raw as *const Boxed<T>);
    if b.alive.load(Ordering::Relaxed) != ALIVE || b.tag != tag::<T>() {
        crate::debug::bad_handle(raw, <T::Handle as vk::Handle>::TYPE);
        return None;
    }
    Some(&b.value)
}

/// Takes the object out of its box; `None` for a null or dead handle.
///
/// # Safety
/// As [`get`]; nobody else uses the handle any more.
pub unsafe fn destroy<T: Object>(handle: T::Handle) -> Option<T> {
    get::<T>(handle)?;
    let b = Box::from_raw(vk::Handle::as_raw(handle) as *mut Boxed<T>);
    b.alive.store(DEAD, Ordering::Relaxed);
    Some(b.value)
}
