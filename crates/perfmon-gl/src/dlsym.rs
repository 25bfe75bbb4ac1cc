//! dlsym itself, for programs that open libGL or libEGL and ask for functions by name.
//!
//! The C library's dlsym looks at its return address to know who asks (RTLD_NEXT, RTLD_DEFAULT), so what is not ours is
//! left to it by a jump, which keeps that address.

use crate::{names, real};
use std::ffi::{CStr, c_char, c_void};

/// What becomes of a call: a result, or (where it is not null) the function to go on with.
#[repr(C)]
struct Answer {
    result: *mut c_void,
    go_on: *mut c_void,
}

/// Ours, if the name is one of ours and the library one of GL's. RTLD_NEXT is asked by those who wrap functions
/// themselves; they come after us.
fn ours(dlsym: real::Dlsym, handle: *mut c_void, name: *const c_char) -> Option<*mut c_void> {
    if name.is_null() || handle == libc::RTLD_NEXT {
        return None;
    }
    // SAFETY: a string that ends in 0, by dlsym's contract.
    let found = names::find(unsafe { CStr::from_ptr(name) }.to_bytes())?;
    // SAFETY: the caller's own handle and name.
    let below = unsafe { dlsym(handle, name) };
    let is_ours = if below.is_null() { found.new } else { real::is_of_gl(below) };
    is_ours.then_some(found.function)
}

extern "C" fn answer(handle: *mut c_void, name: *const c_char) -> Answer {
    let none = std::ptr::null_mut();
    let Some(dlsym) = real::dlsym() else { return Answer { result: none, go_on: none } };
    match std::panic::catch_unwind(|| ours(dlsym, handle, name)).ok().flatten() {
        Some(result) => Answer { result, go_on: none },
        None => Answer { result: none, go_on: dlsym as *mut c_void },
    }
}

/// # Safety
/// As the C library's.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {answer}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rdx, rdx",
        "jz 2f",
        "jmp rdx",
        "2:",
        "ret",
        answer = sym answer,
    )
}

/// # Safety
/// As the C library's. Here it is the caller that RTLD_NEXT counts from.
#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let answer = answer(handle, name);
    match real::dlsym() {
        // SAFETY: the caller's arguments, to the C library's own.
        Some(dlsym) if !answer.go_on.is_null() => unsafe { dlsym(handle, name) },
        _ => answer.result,
    }
}
