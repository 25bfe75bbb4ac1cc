//! EGL's and GLX's functions that must know of us: those that tell functions by name, and those that end contexts.

use crate::context::{self, Platform};
use crate::{gl, guard, names, real};
use std::ffi::{CStr, c_char, c_uint, c_void};

/// # Safety
/// `name` is null or a string that ends in 0.
unsafe fn proc_address(name: *const c_char, below: Option<gl::GetProcAddress>) -> *mut c_void {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        // Pointers have no Default.
        guard(|| {
            let of_ours = (!name.is_null()).then(|| names::find(CStr::from_ptr(name).to_bytes())).flatten();
            let found = match of_ours {
                // Without what it stands for below, a function of ours would lead nowhere.
                Some(found) if found.new => found.function,
                Some(found) => match below {
                    Some(below) if below(name).is_null() => std::ptr::null_mut(),
                    _ => found.function,
                },
                None => below.map_or(std::ptr::null_mut(), |below| below(name)),
            };
            found as usize
        }) as *mut c_void
    }
}

/// # Safety
/// As EGL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eglGetProcAddress(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { proc_address(name, real::egl_get_proc_address()) }
}

/// # Safety
/// As GLX's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glXGetProcAddressARB(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { proc_address(name, real::glx_get_proc_address()) }
}

/// # Safety
/// As GLX's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glXGetProcAddress(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { proc_address(name, real::glx_get_proc_address()) }
}

/// # Safety
/// As EGL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eglDestroyContext(display: *mut c_void, context: *mut c_void) -> c_uint {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(below) = real::egl_destroy_context() else { return 0 };
        let done = below(display, context);
        if done != 0 {
            guard(|| {
                context::ended(|key, _| key.platform == Platform::Egl && key.handle == context as usize)
            });
        }
        done
    }
}

/// # Safety
/// As EGL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eglTerminate(display: *mut c_void) -> c_uint {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(below) = real::egl_terminate() else { return 0 };
        let done = below(display);
        if done != 0 {
            guard(|| context::ended(|key, of| key.platform == Platform::Egl && of == display as usize));
        }
        done
    }
}

/// # Safety
/// As GLX's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glXDestroyContext(display: *mut c_void, context: *mut c_void) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(below) = real::glx_destroy_context() else { return };
        below(display, context);
        guard(|| context::ended(|key, _| key.platform == Platform::Glx && key.handle == context as usize));
    }
}
