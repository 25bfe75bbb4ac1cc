//! A library for LD_PRELOAD after ours: of GL's functions that `marks` calls it has those that matter to what becomes of a
//! mark, and does with marks what zink of Mesa 25 does. A command buffer without work is not submitted where its batch has
//! an upload (its `submit_queue` takes each of a batch's command buffers only where that has work): a mark that no
//! work follows before the batch ends is lost. Mesa 22 keeps it for the next batch.

#![allow(clippy::missing_safety_doc, reason = "GL's functions")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

type Get = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Insert = unsafe extern "C" fn(c_uint, c_uint, c_uint, c_uint, c_int, *const c_char);
type Counter = unsafe extern "C" fn(c_uint, c_uint);

/// Source, type, id, severity and text of a message whose command buffer has no work yet.
type Message = ([c_uint; 4], Vec<u8>);
static WAITING: Mutex<Vec<Message>> = Mutex::new(Vec::new());

fn waiting() -> std::sync::MutexGuard<'static, Vec<Message>> {
    WAITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// GL's own function, by the dispatch of libEGL.
unsafe fn below<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: strings that end in 0; `F` is the function's type. The C library's own dlsym: another library has one too.
    unsafe {
        let egl = libc::dlopen(c"libEGL.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        let versions = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];
        let find = |v: &&CStr| dlvsym(libc::RTLD_DEFAULT, c"dlsym".as_ptr(), v.as_ptr());
        let dlsym = versions.iter().map(find).find(|p| !p.is_null())?;
        let dlsym: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
            std::mem::transmute(dlsym);
        let get = dlsym(egl, c"eglGetProcAddress".as_ptr());
        if get.is_null() {
            return None;
        }
        let get: Get = std::mem::transmute(get);
        let at = get(name.as_ptr());
        (!at.is_null()).then(|| std::mem::transmute_copy(&at))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn glDebugMessageInsert(
    source: c_uint,
    kind: c_uint,
    id: c_uint,
    severity: c_uint,
    _length: c_int,
    text: *const c_char,
) {
    // SAFETY: our library's messages end in 0.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes_with_nul().to_vec();
    waiting().push(([source, kind, id, severity], text));
}

/// Work: what waits is submitted with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glQueryCounter(query: c_uint, target: c_uint) {
    // SAFETY: the registry's types of these names.
    unsafe {
        if let Some(insert) = below::<Insert>(c"glDebugMessageInsert") {
            for ([source, kind, id, severity], text) in waiting().drain(..) {
                insert(source, kind, id, severity, -1, text.as_ptr().cast());
            }
        }
        if let Some(counter) = below::<Counter>(c"glQueryCounter") {
            counter(query, target);
        }
    }
}

/// The version that does so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetString(name: c_uint) -> *const c_char {
    const VERSION: c_uint = 0x1F02;
    if name == VERSION {
        return c"4.6 (Compatibility Profile) Mesa 25.0.7".as_ptr();
    }
    // SAFETY: the registry's type of that name.
    unsafe {
        below::<unsafe extern "C" fn(c_uint) -> *const c_char>(c"glGetString")
            .map_or(std::ptr::null(), |get| get(name))
    }
}

/// A batch's end, told by the program: what had no work by now is lost.
#[unsafe(no_mangle)]
pub extern "C" fn end_of_a_batch_with_an_upload() {
    waiting().clear();
}
