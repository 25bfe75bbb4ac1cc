//! For libraries that are loaded by LD_PRELOAD: the functions that they stand before.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The function of this name and type that comes after the library which has this.
pub struct Next<F> {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    kind: PhantomData<F>,
}

impl<F: Copy> Next<F> {
    pub const fn new(name: &'static CStr) -> Self {
        Next { name, found: AtomicPtr::new(std::ptr::null_mut()), kind: PhantomData }
    }

    /// Without one the process ends, as it would where a program is linked to a function that is not there.
    pub fn get(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let mut at = self.found.load(Relaxed);
        if at.is_null() {
            // SAFETY: a name that ends in 0.
            at = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            if at.is_null() {
                std::process::abort();
            }
            self.found.store(at, Relaxed);
        }
        // SAFETY: what has this name there is of the type that it was asked for by.
        unsafe { std::mem::transmute_copy(&at) }
    }
}
