//! The library's memory: the system's, and a reserve that serves where that has nothing left.
//!
//! Rust's collections and its standard library end the process when an allocation fails. Here the call under way goes on with
//! the reserve; the next that would make something looks at it ([`is_short`]) and returns VK_ERROR_OUT_OF_HOST_MEMORY instead,
//! until the system has memory again. What an application sets the size of is asked for fallibly where it is made.
//!
//! The linker puts these functions in the place of malloc and its like in all of the library, the standard library's own
//! threads and channels included, which no global allocator sees (`--wrap`, build.rs). Not under a sanitizer, which has that
//! place itself: there is no reserve then.
#![cfg_attr(sanitized, allow(dead_code, reason = "nothing leads here"))]

use libc::{c_int, c_void, size_t};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

#[cfg(not(any(test, sanitized)))]
unsafe extern "C" {
    // The C library's, by the names that `--wrap` gives them.
    fn __real_malloc(size: size_t) -> *mut c_void;
    fn __real_calloc(count: size_t, size: size_t) -> *mut c_void;
    fn __real_realloc(p: *mut c_void, size: size_t) -> *mut c_void;
    fn __real_posix_memalign(out: *mut *mut c_void, align: size_t, size: size_t) -> c_int;
    fn __real_free(p: *mut c_void);
}
#[cfg(any(test, sanitized))]
use libc::{
    calloc as __real_calloc, free as __real_free, malloc as __real_malloc,
    posix_memalign as __real_posix_memalign, realloc as __real_realloc,
};

/// Gives the system what has been freed: the C library keeps what lies between blocks in use, of large recordings
/// hundreds of megabytes. Costs some time for each page that goes.
pub(crate) fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no conditions.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes of the reserve. Pages that were never used are none of the machine's.
const SIZE: usize = 64 << 20;
/// What the system must be able to give for memory not to be short.
const PROBE: usize = 256 << 10;
/// Blocks are powers of two from 32 bytes on.
const SMALLEST: u32 = 5;
const CLASSES: usize = (SIZE.trailing_zeros() - SMALLEST) as usize;

#[repr(C, align(4096))]
struct Pool(UnsafeCell<[u8; SIZE]>);
// SAFETY: blocks are handed out to one owner each, under the lock.
unsafe impl Sync for Pool {}
static POOL: Pool = Pool(UnsafeCell::new([0; SIZE]));

/// Where free blocks are, by class; each holds the next one's address.
struct Blocks {
    free: [usize; CLASSES],
    /// Bytes of the pool that were ever handed out since all was free.
    used: usize,
}

struct Guarded {
    taken: AtomicBool,
    blocks: UnsafeCell<Blocks>,
}
// SAFETY: only the thread that holds the lock accesses the blocks.
unsafe impl Sync for Guarded {}
static BLOCKS: Guarded = Guarded {
    taken: AtomicBool::new(false),
    blocks: UnsafeCell::new(Blocks { free: [0; CLASSES], used: 0 }),
};
/// Blocks in use.
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Runs `f` on the blocks, alone. A lock that needs no memory itself; it is held for some instructions.
fn alone<R>(f: impl FnOnce(&mut Blocks) -> R) -> R {
    while BLOCKS.taken.swap(true, Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: the lock is held.
    let r = f(unsafe { &mut *BLOCKS.blocks.get() });
    BLOCKS.taken.store(false, Release);
    r
}

fn base() -> usize {
    POOL.0.get() as usize
}

fn is_reserve(p: *mut c_void) -> bool {
    (p as usize).wrapping_sub(base()) < SIZE
}

/// What stands before memory of the reserve.
#[repr(C, align(16))]
struct Header {
    /// The block that it lies in.
    block: usize,
    class: usize,
}
const HEADER: usize = size_of::<Header>();

/// `size` bytes of the reserve, or null.
#[cold]
fn take(size: usize, align: usize) -> *mut c_void {
    let align = align.max(HEADER);
    let Some(bytes) = size.checked_add(HEADER + align).and_then(usize::checked_next_power_of_two) else {
        return null_mut();
    };
    let class = (bytes.trailing_zeros().max(SMALLEST) - SMALLEST) as usize;
    if class >= CLASSES {
        return null_mut();
    }
    alone(|b| {
        let block = match b.free[class] {
            0 => {
                if b.used + bytes > SIZE {
                    return null_mut();
                }
                b.used += bytes;
                base() + b.used - bytes
            }
            block => {
                // SAFETY: a free block of the pool, which holds the next one's address.
                b.free[class] = unsafe { *(block as *const usize) };
                block
            }
        };
        IN_USE.fetch_add(1, Relaxed);
        let p = (block + HEADER).next_multiple_of(align);
        // SAFETY: within the block, which has no other owner; aligned like `p`.
        unsafe { ((p - HEADER) as *mut Header).write(Header { block, class }) };
        p as *mut c_void
    })
}

/// # Safety
/// Memory of the reserve that is no longer used.
#[cold]
unsafe fn give(p: *mut c_void) {
    // SAFETY: it stands before all memory of the reserve.
    let Header { block, class } = unsafe { p.cast::<Header>().sub(1).read() };
    alone(|b| {
        // SAFETY: a block of the pool, of that class, that is no longer used.
        unsafe { *(block as *mut usize) = b.free[class] };
        b.free[class] = block;
        if IN_USE.fetch_sub(1, Relaxed) == 1 {
            *b = Blocks { free: [0; CLASSES], used: 0 };
        }
    });
}

/// How many bytes there are at `p`.
///
/// # Safety
/// Memory of the reserve or of the system.
unsafe fn room(p: *mut c_void) -> usize {
    if !is_reserve(p) {
        // SAFETY: the system's.
        return unsafe { libc::malloc_usable_size(p) };
    }
    // SAFETY: it stands before all memory of the reserve.
    let Header { block, class } = unsafe { p.cast::<Header>().sub(1).read() };
    block + (1 << (class + SMALLEST as usize)) - p as usize
}

/// The system has no memory left: nothing new is to be made. One load while all is well.
#[inline]
pub(crate) fn is_short() -> bool {
    IN_USE.load(Relaxed) != 0 && fails()
}

#[cold]
fn fails() -> bool {
    // SAFETY: given back at once.
    unsafe {
        let p = __real_malloc(PROBE);
        __real_free(p);
        p.is_null()
    }
}

// SAFETY (all of them): as the C library's, whose place they take: what they are given is the library's own.

unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    unsafe {
        let p = __real_malloc(size);
        if p.is_null() { take(size, 1) } else { p }
    }
}

unsafe extern "C" fn calloc(count: size_t, size: size_t) -> *mut c_void {
    unsafe {
        let p = __real_calloc(count, size);
        let Some(bytes) = count.checked_mul(size).filter(|_| p.is_null()) else { return p };
        let p = take(bytes, 1);
        if !p.is_null() {
            p.write_bytes(0, bytes);
        }
        p
    }
}

unsafe extern "C" fn realloc(p: *mut c_void, size: size_t) -> *mut c_void {
    unsafe {
        if !is_reserve(p) {
            let new = __real_realloc(p, size);
            if !new.is_null() || size == 0 || p.is_null() {
                return if new.is_null() && size != 0 { take(size, 1) } else { new };
            }
        }
        let new = malloc(size);
        if !new.is_null() {
            new.copy_from_nonoverlapping(p, room(p).min(size));
            free(p);
        }
        new
    }
}

unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
    unsafe {
        let e = __real_posix_memalign(out, align, size);
        if e != libc::ENOMEM {
            return e;
        }
        let p = take(size, align);
        if p.is_null() {
            return libc::ENOMEM;
        }
        *out = p;
        0
    }
}

unsafe extern "C" fn free(p: *mut c_void) {
    unsafe { if is_reserve(p) { give(p) } else { __real_free(p) } }
}

// The names that `--wrap` looks for; hidden, because no other library uses them.
#[cfg(not(any(test, sanitized)))]
macro_rules! wrap {
    ($($name:ident)*) => { $(
        std::arch::global_asm!(
            concat!(".globl __wrap_", stringify!($name)),
            concat!(".hidden __wrap_", stringify!($name)),
            concat!(".type __wrap_", stringify!($name), ", @function"),
            concat!("__wrap_", stringify!($name), ":"),
            #[cfg(target_arch = "x86_64")]
            "jmp {to}",
            #[cfg(target_arch = "aarch64")]
            "b {to}",
            to = sym $name,
        );
    )* };
}
#[cfg(not(any(test, sanitized)))]
wrap! { malloc calloc realloc posix_memalign free }

#[cfg(test)]
mod tests {
    use super::*;

    /// The one test that uses the reserve, for there is one.
    #[test]
    fn blocks_are_given_and_taken_back() {
        const SIZES: [(usize, usize); 6] =
            [(1, 1), (16, 16), (17, 8), (4096, 64), (100_000, 4096), (1 << 20, 1)];
        // SAFETY (all of it): bytes of the blocks that were taken, which are given back once.
        unsafe {
            let mut many = vec![];
            for (size, align) in SIZES.into_iter().cycle().take(60) {
                let p = take(size, align);
                assert!(is_reserve(p) && (p as usize).is_multiple_of(align), "{size} {align}");
                assert!(room(p) >= size, "{size} {align}: {}", room(p));
                p.write_bytes(size as u8, size);
                many.push((p, size));
            }
            for &(p, size) in &many {
                let bytes = std::slice::from_raw_parts(p.cast::<u8>(), size);
                assert!(bytes.iter().all(|b| *b == size as u8), "nobody else has written to the {size}");
            }
            assert_eq!(IN_USE.load(Relaxed), 60);
            assert!(!is_short(), "the system has memory");
            let (p, _) = many[5];
            give(p);
            assert_eq!(take((1 << 20) + 5, 2), p, "the same class, the same block");
            assert!(take(SIZE, 1).is_null() && take(usize::MAX, 1).is_null() && take(1, SIZE).is_null());
            // To the end, and back.
            let rest: Vec<_> =
                std::iter::from_fn(|| Some(take(1 << 20, 1)).filter(|p| !p.is_null())).collect();
            assert!(rest.len() > 10, "{}", rest.len());
            rest.into_iter().chain(many.into_iter().map(|m| m.0)).for_each(|p| free(p));
            assert_eq!((IN_USE.load(Relaxed), alone(|b| b.used)), (0, 0));
            // What was the reserve's moves to the system when it grows.
            let p = take(100, 8);
            p.write_bytes(7, 100);
            let q = realloc(p, 300);
            assert!(!is_reserve(q) && std::slice::from_raw_parts(q.cast::<u8>(), 100) == [7; 100]);
            free(q);
            assert_eq!(IN_USE.load(Relaxed), 0);
            let mut p = null_mut();
            assert_eq!((posix_memalign(&mut p, 64, 10), calloc(usize::MAX, 2)), (0, null_mut()));
            free(p);
            free(malloc(10));
        }
    }
}
