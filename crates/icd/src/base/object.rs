//! Handles: every Vulkan object has a small header whose first word is the loader's, followed by a type tag, an
//! alive mark and the pointer to the object itself; the handle is the header's address. All headers lie in one
//! reserved range of addresses and are handed out again only after many others, so a stale, foreign or invented
//! handle is noticed at entry (one compare, one load) instead of being dereferenced as something it is not.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use texel::retried::Retried;

/// What the loader expects in the first word of a dispatchable object (vk_icd.h, `ICD_LOADER_MAGIC`).
pub const LOADER_MAGIC: usize = 0x01CD_C0DE;
const ALIVE: u32 = 0x0A11_FE00;
const DEAD: u32 = 0xDEAD_DEAD;

/// Headers that stay unused after their object's end before one is used again.
const QUARANTINE: usize = 4096;

#[repr(C, align(32))]
struct Header {
    /// Magic at first; the loader writes its dispatch table here.
    loader: AtomicUsize,
    tag: AtomicU32,
    alive: AtomicU32,
    value: AtomicPtr<()>,
    /// Objects that this header has served, the present one included.
    generation: AtomicU32,
    /// How many hold the object at present ([`hold`]).
    holders: AtomicU32,
}

const SIZE: usize = size_of::<Header>();

/// The range of addresses in which headers lie.
struct Arena {
    base: usize,
    len: usize,
    /// Bytes handed out so far.
    used: AtomicUsize,
    free: Mutex<VecDeque<usize>>,
}

/// The arena; an empty one while the system has no address space for it.
fn arena() -> &'static Arena {
    static ARENA: Retried<Arena> = Retried::new();
    static NONE: Arena =
        Arena { base: 0, len: 0, used: AtomicUsize::new(0), free: Mutex::new(VecDeque::new()) };
    ARENA.get(reserve).unwrap_or(&NONE)
}

fn reserve() -> Option<Arena> {
    // Only touched pages cost memory; a system that does not overcommit grants less.
    [16usize << 30, 1 << 30, 64 << 20].into_iter().find_map(|len| {
        let base = texel::memory::fresh(std::ptr::null_mut(), len as u64)?;
        Some(Arena { base: base as usize, len, used: AtomicUsize::new(0), free: Mutex::default() })
    })
}

/// The header at `raw`, if `raw` is an address at which one was ever handed out.
fn header(raw: u64) -> Option<&'static Header> {
    let a = arena();
    let offset = (raw as usize).wrapping_sub(a.base);
    if offset >= a.used.load(Ordering::Acquire).min(a.len) || !offset.is_multiple_of(SIZE) {
        return None;
    }
    // SAFETY: inside the mapping, which lives as long as the process; all fields are atomics, zero at first.
    Some(unsafe { &*(raw as *const Header) })
}

/// The Rust type of a Vulkan handle.
pub trait Object: Sized {
    /// The handle type of ash that names it.
    type Handle: vk::Handle + Copy;
}

fn tag<T: Object>() -> u32 {
    <T::Handle as vk::Handle>::TYPE.as_raw() as u32
}

/// Boxes `value` and returns its handle. The handle owns it until [`destroy`]. The null handle is returned when
/// there is no room for another header (half a thousand million objects).
pub fn create<T: Object>(value: T) -> T::Handle {
    let a = arena();
    let reused = {
        let mut free = a.free.lock();
        if free.len() > QUARANTINE { free.pop_front() } else { None }
    };
    let at = reused.unwrap_or_else(|| a.base.wrapping_add(a.used.fetch_add(SIZE, Ordering::AcqRel)));
    let Some(h) = header(at as u64) else { return vk::Handle::from_raw(0) };
    h.loader.store(LOADER_MAGIC, Ordering::Relaxed);
    h.tag.store(tag::<T>(), Ordering::Relaxed);
    h.value.store(Box::into_raw(Box::new(value)).cast(), Ordering::Relaxed);
    h.generation.fetch_add(1, Ordering::Relaxed);
    h.alive.store(ALIVE, Ordering::Release);
    vk::Handle::from_raw(at as u64)
}

/// The object of `handle`; `None` when it is null, and also, with a line in the log, when it was destroyed,
/// is of another type or is no handle at all.
///
/// # Safety
/// Nobody destroys the object while the reference is in use.
pub unsafe fn get<'a, T: Object>(handle: T::Handle) -> Option<&'a T> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let found = find::<T>(handle);
        let raw = vk::Handle::as_raw(handle);
        if found.is_none() && raw != 0 {
            bad::<T>(raw);
        }
        found
    }
}

/// As [`get`], without a word in the log.
///
/// # Safety
/// As [`get`].
#[inline]
pub unsafe fn find<'a, T: Object>(handle: T::Handle) -> Option<&'a T> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let h = header(vk::Handle::as_raw(handle))?;
        // With `hold`, after its count (no fence on x86).
        let live = h.alive.load(Ordering::SeqCst) == ALIVE && h.tag.load(Ordering::Relaxed) == tag::<T>();
        live.then(|| &*h.value.load(Ordering::Relaxed).cast::<T>())
    }
}

/// An object that is not destroyed before this ends.
pub struct Held<'a, T> {
    object: &'a T,
    header: &'static Header,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.object
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.header.holders.fetch_sub(1, Ordering::SeqCst);
    }
}

/// As [`get`] (the null handle is none without a word), of an object that another thread may destroy meanwhile: it waits. For what many threads use at once and
/// applications are known to destroy too early.
pub fn hold<'a, T: Object>(handle: T::Handle) -> Option<Held<'a, T>> {
    let raw = vk::Handle::as_raw(handle);
    let Some(header) = header(raw) else {
        if raw != 0 {
            bad::<T>(raw);
        }
        return None;
    };
    header.holders.fetch_add(1, Ordering::SeqCst);
    // SAFETY: a thread that destroys the object marks it dead before it looks for holders, and this holder was counted before asking whether
    // it is alive: one of the two sees the other.
    match unsafe { get::<T>(handle) } {
        Some(object) => Some(Held { object, header }),
        None => {
            header.holders.fetch_sub(1, Ordering::SeqCst);
            None
        }
    }
}

#[cold]
fn bad<T: Object>(raw: u64) {
    crate::base::debug::bad_handle(raw, <T::Handle as vk::Handle>::TYPE);
}

/// Which of the objects that had this handle, one after the other, it is now; 0 for what is no handle of ours.
pub fn generation(raw: u64) -> u64 {
    header(raw).map_or(0, |h| h.generation.load(Ordering::Relaxed).into())
}

/// What a handle turned out to be, for messages.
pub fn describe(raw: u64) -> String {
    match header(raw) {
        None => "not a handle of this driver".into(),
        Some(h) => {
            let ty = vk::ObjectType::from_raw(h.tag.load(Ordering::Relaxed) as i32);
            match h.alive.load(Ordering::Relaxed) {
                ALIVE => format!("a handle of type {ty:?}"),
                DEAD => format!("a destroyed {ty:?}"),
                _ => "not a handle of this driver".into(),
            }
        }
    }
}

/// Takes the object out of its box; `None` for a null or dead handle.
///
/// # Safety
/// Nobody else uses the handle any more.
pub unsafe fn destroy<T: Object>(handle: T::Handle) -> Option<T> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        get::<T>(handle)?;
        let raw = vk::Handle::as_raw(handle);
        let h = header(raw)?;
        if h.alive.compare_exchange(ALIVE, DEAD, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            return None; // another thread was first
        }
        while h.holders.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
        crate::base::debug::forget(raw);
        let value = Box::from_raw(h.value.swap(std::ptr::null_mut(), Ordering::Relaxed).cast::<T>());
        arena().free.lock().push_back(raw as usize);
        Some(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::Handle;

    struct Thing(u32);
    impl Object for Thing {
        type Handle = vk::Buffer;
    }
    struct Other;
    impl Object for Other {
        type Handle = vk::Image;
    }

    #[test]
    fn stale_foreign_and_wrong_handles_are_noticed() {
        let a = create(Thing(7));
        unsafe {
            assert_eq!(get::<Thing>(a).map(|t| t.0), Some(7));
            assert!(get::<Other>(vk::Image::from_raw(a.as_raw())).is_none());
            assert!(get::<Thing>(vk::Buffer::from_raw(a.as_raw() + 8)).is_none());
            assert!(get::<Thing>(vk::Buffer::from_raw(0x1234_5678)).is_none());
            assert!(get::<Thing>(vk::Buffer::null()).is_none());
            assert_eq!(destroy::<Thing>(a).map(|t| t.0), Some(7));
            assert!(get::<Thing>(a).is_none());
            assert!(destroy::<Thing>(a).is_none());
            assert!(describe(a.as_raw()).contains("destroyed"));
            assert!(hold::<Thing>(a).is_none());
            let b = create(Thing(8));
            assert_ne!(a, b);
            assert_eq!(destroy::<Thing>(b).map(|t| t.0), Some(8));
        }
    }

    #[test]
    fn what_is_held_is_destroyed_later() {
        use std::sync::atomic::AtomicBool;
        struct Tells(std::sync::Arc<AtomicBool>);
        impl Object for Tells {
            type Handle = vk::Fence;
        }
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let gone = std::sync::Arc::new(AtomicBool::new(false));
        let handle = create(Tells(gone.clone()));
        let held = hold::<Tells>(handle).expect("alive");
        std::thread::scope(|s| {
            s.spawn(|| drop(unsafe { destroy::<Tells>(handle) }));
            while unsafe { find::<Tells>(handle) }.is_some() {
                std::thread::yield_now();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!gone.load(Ordering::SeqCst) && !held.0.load(Ordering::SeqCst));
            drop(held);
        });
        assert!(gone.load(Ordering::SeqCst));
    }
}
