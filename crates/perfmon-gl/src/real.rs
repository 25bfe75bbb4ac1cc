//! The real functions below us: of the dynamic loader, of EGL and GLX, of GL.

use crate::gl;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

pub type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The C library's own dlsym: ours has its name, so it is asked for by version (x86-64 and aarch64, new and old).
pub fn dlsym() -> Option<Dlsym> {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    let mut at = REAL.load(Ordering::Relaxed);
    if at == 0 {
        let versions = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];
        // SAFETY: strings that end in 0.
        let find = |v: &&CStr| unsafe { dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), v.as_ptr()) as usize };
        at = versions.iter().map(find).find(|&a| a != 0)?;
        REAL.store(at, Ordering::Relaxed);
    }
    // SAFETY: the C library's function of that name.
    Some(unsafe { std::mem::transmute::<usize, Dlsym>(at) })
}

/// Where GL, EGL and GLX live, with glvnd and without.
const LIBRARIES: [&CStr; 6] = [
    c"libGL.so.1",
    c"libOpenGL.so.0",
    c"libGLESv2.so.2",
    c"libGLESv1_CM.so.1",
    c"libEGL.so.1",
    c"libGLX.so.0",
];

/// A symbol of the libraries that are loaded already: loading one would change the program.
fn exported(name: &CStr) -> usize {
    let Some(dlsym) = dlsym() else { return 0 };
    // SAFETY: strings that end in 0; a library that is not loaded gives null.
    unsafe {
        let next = dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize;
        if next != 0 {
            return next;
        }
        for library in LIBRARIES {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() {
                continue;
            }
            let found = dlsym(handle, name.as_ptr()) as usize;
            libc::dlclose(handle);
            if found != 0 {
                return found;
            }
        }
    }
    0
}

/// A real function, looked for until it is found.
pub struct Real {
    name: &'static CStr,
    at: AtomicUsize,
}

impl Real {
    const fn new(name: &'static CStr) -> Real {
        Real { name, at: AtomicUsize::new(0) }
    }

    /// # Safety
    /// `F` is the function's type.
    unsafe fn get<F: Copy>(&self, find: impl FnOnce(&CStr) -> usize) -> Option<F> {
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            const { assert!(size_of::<F>() == size_of::<usize>()) };
            let mut at = self.at.load(Ordering::Relaxed);
            if at == 0 {
                at = find(self.name);
                self.at.store(at, Ordering::Relaxed);
            }
            (at != 0).then(|| std::mem::transmute_copy::<usize, F>(&at))
        }
    }
}

/// Exported, or told by EGL or GLX.
fn anywhere(name: &CStr) -> usize {
    let found = exported(name);
    if found != 0 {
        return found;
    }
    // SAFETY: a string that ends in 0.
    [egl_get_proc_address(), glx_get_proc_address()]
        .into_iter()
        .flatten()
        .map(|get| unsafe { get(name.as_ptr()) as usize })
        .find(|&a| a != 0)
        .unwrap_or(0)
}

macro_rules! real {
    ($how:ident: $($function:ident = $name:literal: $type:ty;)*) => {$(
        pub fn $function() -> Option<$type> {
            static REAL: Real = Real::new($name);
            // SAFETY: the registry's type of that name.
            unsafe { REAL.get($how) }
        }
    )*};
}

real! {
exported:
    egl_get_proc_address = c"eglGetProcAddress": gl::GetProcAddress;
    egl_get_current_context = c"eglGetCurrentContext": gl::GetCurrent;
    egl_get_current_display = c"eglGetCurrentDisplay": gl::GetCurrent;
    egl_destroy_context = c"eglDestroyContext": gl::DestroyContext;
    egl_terminate = c"eglTerminate": gl::Terminate;
    glx_get_proc_address = c"glXGetProcAddressARB": gl::GetProcAddress;
    glx_get_current_context = c"glXGetCurrentContext": gl::GetCurrent;
    glx_destroy_context = c"glXDestroyContext": gl::DestroyContext;
}

real! {
anywhere:
    get_string = c"glGetString": gl::GetString;
    get_stringi = c"glGetStringi": gl::GetStringi;
    get_integerv = c"glGetIntegerv": gl::GetIntegerv;
    get_error = c"glGetError": gl::GetError;
    flush = c"glFlush": gl::Plain;
    finish = c"glFinish": gl::Plain;
    render_mode = c"glRenderMode": gl::RenderMode;
    debug_message_control = c"glDebugMessageControl": gl::DebugMessageControl;
    debug_message_control_es = c"glDebugMessageControlKHR": gl::DebugMessageControl;
    debug_message_insert = c"glDebugMessageInsert": gl::DebugMessageInsert;
    debug_message_insert_es = c"glDebugMessageInsertKHR": gl::DebugMessageInsert;
    gen_queries = c"glGenQueries": gl::GenQueries;
    gen_queries_es = c"glGenQueriesEXT": gl::GenQueries;
    delete_queries = c"glDeleteQueries": gl::GenQueries;
    delete_queries_es = c"glDeleteQueriesEXT": gl::GenQueries;
    query_counter = c"glQueryCounter": gl::QueryCounter;
    query_counter_es = c"glQueryCounterEXT": gl::QueryCounter;
}

/// Whether what `at` points into is one of GL's libraries: other libraries may have functions of the same names.
pub fn is_of_gl(at: *const c_void) -> bool {
    // SAFETY: all zeros is such a struct; dladdr fills it for what it knows.
    let file = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(at, &mut info) as c_int == 0 || info.dli_fname.is_null() {
            return false;
        }
        CStr::from_ptr(info.dli_fname).to_bytes()
    };
    let file = file.rsplit(|&b| b == b'/').next().unwrap_or(file);
    [&b"libGL"[..], b"libEGL", b"libOpenGL"].iter().any(|start| file.starts_with(start))
}
