//! The library's allocator: the system's, and a reserve that serves where that has nothing left.
//!
//! Rust's collections end the process when an allocation fails. Here the call under way goes on with the reserve; the next
//! that would make something looks at it ([`is_short`]) and returns VK_ERROR_OUT_OF_HOST_MEMORY instead, until the system has
//! memory again. What an application sets the size of is asked for fallibly where it is made.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

/// Bytes of the reserve. Pages that were never used are none of the machine's.
const SIZE: usize = 64 << 20;
/// What the system must be able to give for memory not to be short.
const PROBE: usize = 256 << 10;
/// Blocks are powers of two from 16 bytes on.
const SMALLEST: u32 = 4;
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
// SAFETY: the blocks are looked at by who has taken the lock.
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

fn is_reserve(p: *mut u8) -> bool {
    (p as usize).wrapping_sub(base()) < SIZE
}

/// The class of a layout and its blocks' bytes.
fn class(layout: Layout) -> Option<(usize, usize)> {
    let bytes = layout.size().max(layout.align()).max(1 << SMALLEST).checked_next_power_of_two()?;
    let class = (bytes.trailing_zeros() - SMALLEST) as usize;
    (class < CLASSES && layout.align() <= 4096).then_some((class, bytes))
}

#[cold]
fn take(layout: Layout) -> *mut u8 {
    let Some((class, bytes)) = class(layout) else { return null_mut() };
    alone(|b| {
        let at = match b.free[class] {
            0 => {
                // Blocks lie at multiples of their own size, up to a page.
                let first = b.used.next_multiple_of(bytes.min(4096));
                if first + bytes > SIZE {
                    return null_mut();
                }
                b.used = first + bytes;
                base() + first
            }
            at => {
                // SAFETY: a free block of the pool, which holds the next one's address.
                b.free[class] = unsafe { *(at as *const usize) };
                at
            }
        };
        IN_USE.fetch_add(1, Relaxed);
        at as *mut u8
    })
}

#[cold]
fn give(p: *mut u8, layout: Layout) {
    let Some((class, _)) = class(layout) else { return };
    alone(|b| {
        // SAFETY: a block of the pool, of that class, that nobody uses any more.
        unsafe { *p.cast::<usize>() = b.free[class] };
        b.free[class] = p as usize;
        if IN_USE.fetch_sub(1, Relaxed) == 1 {
            *b = Blocks { free: [0; CLASSES], used: 0 };
        }
    });
}

/// The system has no memory left: nothing new is to be made. One load while all is well.
#[inline]
pub(crate) fn is_short() -> bool {
    IN_USE.load(Relaxed) != 0 && fails()
}

#[cold]
fn fails() -> bool {
    let layout = Layout::from_size_align(PROBE, 16).expect("a constant");
    // SAFETY: not of 0 bytes; given back at once.
    unsafe {
        let p = System.alloc(layout);
        if !p.is_null() {
            System.dealloc(p, layout);
        }
        p.is_null()
    }
}

pub(crate) struct Allocator;

// SAFETY: the system's blocks and the pool's, each given back where it came from.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's, here and below.
        let p = unsafe { System.alloc(layout) };
        if p.is_null() { take(layout) } else { p }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let p = unsafe { System.alloc_zeroed(layout) };
        if !p.is_null() {
            return p;
        }
        let p = take(layout);
        if !p.is_null() {
            // SAFETY: as many bytes are the block's.
            unsafe { p.write_bytes(0, layout.size()) };
        }
        p
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        if is_reserve(p) {
            give(p, layout);
        } else {
            // SAFETY: as above; it is the system's.
            unsafe { System.dealloc(p, layout) };
        }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_reserve(p) {
            // SAFETY: as above; it is the system's.
            let new = unsafe { System.realloc(p, layout, size) };
            if !new.is_null() {
                return new;
            }
        }
        // SAFETY: the caller's: a size that makes a layout; both blocks have the bytes that are copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(p, layout.size().min(size));
                self.dealloc(p, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one test that uses the reserve directly, for it is one.
    #[test]
    fn blocks_are_given_and_taken_back() {
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let many: Vec<_> = [(1, 1), (16, 16), (17, 8), (4096, 64), (100_000, 4096), (1 << 20, 1)]
            .into_iter()
            .cycle()
            .take(60)
            .map(|(size, align)| {
                let l = layout(size, align);
                let p = take(l);
                assert!(is_reserve(p) && (p as usize).is_multiple_of(align), "{l:?}");
                // SAFETY: the block's bytes.
                unsafe { p.write_bytes(size as u8, size) };
                (p, l)
            })
            .collect();
        for (p, l) in &many {
            // SAFETY: as above.
            let bytes = unsafe { std::slice::from_raw_parts(*p, l.size()) };
            assert!(bytes.iter().all(|b| *b == l.size() as u8), "nobody else has written to {l:?}");
        }
        assert_eq!(IN_USE.load(Relaxed), 60);
        assert!(!is_short(), "the system has memory");
        let (p, l) = many[5];
        give(p, l);
        assert_eq!(take(layout((1 << 20) - 5, 2)), p, "the same class, the same block");
        assert!(take(layout(SIZE, 1)).is_null() && take(layout(16, 8192)).is_null());
        // To the end, and back.
        let rest: Vec<_> =
            std::iter::from_fn(|| Some(take(layout(1 << 20, 1))).filter(|p| !p.is_null())).collect();
        assert!(rest.len() > 40, "{}", rest.len());
        rest.iter().for_each(|p| give(*p, layout(1 << 20, 1)));
        many.iter().for_each(|(p, l)| give(*p, *l));
        assert_eq!((IN_USE.load(Relaxed), alone(|b| b.used)), (0, 0));
        // A system that refuses, as a block of the reserve shows: it moves to the system when it grows.
        // SAFETY: blocks of their layouts.
        unsafe {
            let l = layout(100, 8);
            let p = take(l);
            p.write_bytes(7, 100);
            let q = Allocator.realloc(p, l, 300);
            assert!(!is_reserve(q) && std::slice::from_raw_parts(q, 100) == [7; 100]);
            Allocator.dealloc(q, layout(300, 8));
        }
        assert_eq!(IN_USE.load(Relaxed), 0);
    }
}
