//! A surface of a Wayland compositor: pictures are copied to shared memory (wl_shm) of the application's own connection.
//!
//! libwayland-client is the application's: it is loaded by name when the first display comes along. Of its functions those
//! are taken that pass arguments as arrays (1.20 and newer); objects of ours live on an event queue of ours, so that the
//! application's events are left alone. The numbers are those of wayland.xml.

use super::pixels::{Picture, PixelLayout};
use crate::base::answer::Answer;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

type Proxy = *mut c_void;

/// `union wl_argument`
#[repr(C)]
#[derive(Clone, Copy)]
union Argument {
    number: i32,
    unsigned: u32,
    text: *const c_char,
    object: Proxy,
    fd: i32,
    none: usize,
}

type Handler = unsafe extern "C" fn();

/// What is used of libwayland-client.
struct Library {
    create_queue: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    destroy_queue: unsafe extern "C" fn(*mut c_void),
    create_wrapper: unsafe extern "C" fn(Proxy) -> Proxy,
    destroy_wrapper: unsafe extern "C" fn(Proxy),
    set_queue: unsafe extern "C" fn(Proxy, *mut c_void),
    marshal: unsafe extern "C" fn(Proxy, u32, *const c_void, u32, u32, *mut Argument) -> Proxy,
    version: unsafe extern "C" fn(Proxy) -> u32,
    listen: unsafe extern "C" fn(Proxy, *const Handler, *mut c_void) -> c_int,
    destroy: unsafe extern "C" fn(Proxy),
    roundtrip: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
    prepare_read: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
    read: unsafe extern "C" fn(*mut c_void) -> c_int,
    cancel_read: unsafe extern "C" fn(*mut c_void),
    dispatch: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
    flush: unsafe extern "C" fn(*mut c_void) -> c_int,
    fd: unsafe extern "C" fn(*mut c_void) -> c_int,
    registry: *const c_void,
    shm: *const c_void,
    pool: *const c_void,
    buffer: *const c_void,
    callback: *const c_void,
}

// SAFETY: functions, and data that is never written.
unsafe impl Send for Library {}
unsafe impl Sync for Library {}

/// What stands at an address of the library's.
///
/// # Safety
/// It is a function of this type.
unsafe fn function<F: Copy>(at: *mut c_void) -> F {
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: the caller keeps what is asked for above; both are an address.
    unsafe { std::mem::transmute_copy(&at) }
}

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the library is the system's, and stays loaded; the functions' types are those of wayland-client-core.h.
    let load = || unsafe {
        let l = libc::dlopen(c"libwayland-client.so.0".as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL);
        if l.is_null() {
            return None;
        }
        let at = |name: &CStr| {
            let p = libc::dlsym(l, name.as_ptr());
            (!p.is_null()).then_some(p)
        };
        macro_rules! function {
            ($name:literal) => {
                function(at($name)?)
            };
        }
        Some(Library {
            create_queue: function!(c"wl_display_create_queue"),
            destroy_queue: function!(c"wl_event_queue_destroy"),
            create_wrapper: function!(c"wl_proxy_create_wrapper"),
            destroy_wrapper: function!(c"wl_proxy_wrapper_destroy"),
            set_queue: function!(c"wl_proxy_set_queue"),
            marshal: function!(c"wl_proxy_marshal_array_flags"),
            version: function!(c"wl_proxy_get_version"),
            listen: function!(c"wl_proxy_add_listener"),
            destroy: function!(c"wl_proxy_destroy"),
            roundtrip: function!(c"wl_display_roundtrip_queue"),
            prepare_read: function!(c"wl_display_prepare_read_queue"),
            read: function!(c"wl_display_read_events"),
            cancel_read: function!(c"wl_display_cancel_read"),
            dispatch: function!(c"wl_display_dispatch_queue_pending"),
            flush: function!(c"wl_display_flush"),
            fd: function!(c"wl_display_get_fd"),
            registry: at(c"wl_registry_interface")?,
            shm: at(c"wl_shm_interface")?,
            pool: at(c"wl_shm_pool_interface")?,
            buffer: at(c"wl_buffer_interface")?,
            callback: at(c"wl_callback_interface")?,
        })
    };
    LIBRARY.get_or_init(load).as_ref()
}

/// WL_MARSHAL_FLAG_DESTROY
const DESTROY: u32 = 1;
// wl_shm's formats.
const ARGB8888: u32 = 0;
const XRGB8888: u32 = 1;

const LOST: vk::Result = vk::Result::ERROR_SURFACE_LOST_KHR;

/// Pixels of both formats.
const PIXELS: PixelLayout = PixelLayout {
    bytes: 4,
    masks: [0xFF_0000, 0xFF00, 0xFF],
    depth: 32,
    big_endian: cfg!(target_endian = "big"),
};

/// How long a compositor may keep all buffers, or a picture from being shown (a window may be hidden), before frames go on.
const PATIENCE: Duration = Duration::from_millis(100);

/// The application's display and surface, with objects of ours beside them.
pub(crate) struct Window {
    library: &'static Library,
    display: *mut c_void,
    queue: *mut c_void,
    shm: Proxy,
    /// The surface, such that what we make of it is on our queue.
    surface: Proxy,
    /// One thread at a time speaks: connection's state aside, libwayland is safe for threads.
    talk: Mutex<()>,
}

// SAFETY: libwayland's display and proxies may be used by any thread.
unsafe impl Send for Window {}
unsafe impl Sync for Window {}

/// What the registry says.
#[derive(Default)]
struct Globals {
    shm: AtomicU32,
}

unsafe extern "C" fn global(
    data: *mut c_void,
    _registry: Proxy,
    name: u32,
    interface: *const c_char,
    _version: u32,
) {
    // SAFETY: libwayland gives what the listener was given, and a terminated string.
    unsafe {
        if CStr::from_ptr(interface) == c"wl_shm" {
            (*data.cast::<Globals>()).shm.store(name, SeqCst);
        }
    }
}

unsafe extern "C" fn global_remove(_: *mut c_void, _: Proxy, _: u32) {}
/// wl_shm.format: the two that are used are there always.
unsafe extern "C" fn format(_: *mut c_void, _: Proxy, _: u32) {}

/// wl_buffer.release, wl_callback.done: sets the flag that the listener was given.
unsafe extern "C" fn done(flag: *mut c_void, _: Proxy, _: u32) {
    // SAFETY: the flag lives as long as its object.
    unsafe { (*flag.cast::<AtomicBool>()).store(true, SeqCst) }
}

/// A listener's functions, as libwayland wants them.
#[repr(transparent)]
struct Listener<const N: usize>([Handler; N]);

// SAFETY: the handlers are called with what the protocol says, which is what they take.
const REGISTRY: Listener<2> = unsafe {
    Listener([
        std::mem::transmute::<unsafe extern "C" fn(*mut c_void, Proxy, u32, *const c_char, u32), Handler>(
            global,
        ),
        std::mem::transmute::<unsafe extern "C" fn(*mut c_void, Proxy, u32), Handler>(global_remove),
    ])
};
// SAFETY: as above.
const SHM: Listener<1> = unsafe {
    Listener([std::mem::transmute::<unsafe extern "C" fn(*mut c_void, Proxy, u32), Handler>(format)])
};
// SAFETY: as above; wl_buffer.release has no argument, which `done` does not look at.
const DONE: Listener<1> = unsafe {
    Listener([std::mem::transmute::<unsafe extern "C" fn(*mut c_void, Proxy, u32), Handler>(done)])
};
static REGISTRY_LISTENER: Listener<2> = REGISTRY;
static SHM_LISTENER: Listener<1> = SHM;
static DONE_LISTENER: Listener<1> = DONE;

fn lost(why: &str) -> vk::Result {
    crate::base::debug::log_error(&format!("Wayland: {why}"));
    LOST
}

impl Library {
    /// A request. `makes`: the interface of the object that it makes.
    ///
    /// # Safety
    /// The proxy is alive, the arguments are what the request takes.
    unsafe fn request(
        &self,
        proxy: Proxy,
        opcode: u32,
        makes: *const c_void,
        version: u32,
        flags: u32,
        arguments: &mut [Argument],
    ) -> Proxy {
        // SAFETY: the caller keeps what is asked for above.
        unsafe { (self.marshal)(proxy, opcode, makes, version, flags, arguments.as_mut_ptr()) }
    }
}

const NEW: Argument = Argument { none: 0 };

/// Whether pictures can be shown on such a display: by any, where the library is there.
pub(crate) fn shows(display: *mut c_void) -> bool {
    !display.is_null() && library().is_some()
}

impl Window {
    /// # Safety
    /// Both are alive, and stay so for as long as the result lives.
    pub unsafe fn new(display: *mut c_void, surface: Proxy) -> Answer<Window> {
        if display.is_null() || surface.is_null() {
            return Err(lost("the display or the surface is null"));
        }
        let library =
            library().ok_or_else(|| lost("libwayland-client.so.0 (1.20 or newer) can't be loaded"))?;
        // SAFETY: the caller keeps what is asked for above; a wrapper is a proxy whose children are on our queue.
        unsafe {
            let queue = (library.create_queue)(display);
            let wrapped = (library.create_wrapper)(display);
            let own = (library.create_wrapper)(surface);
            if queue.is_null() || wrapped.is_null() || own.is_null() {
                return Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            }
            (library.set_queue)(wrapped, queue);
            (library.set_queue)(own, queue);
            let globals = Globals::default();
            // wl_display.get_registry
            let registry = library.request(wrapped, 1, library.registry, 1, 0, &mut [NEW]);
            (library.destroy_wrapper)(wrapped);
            let data = (&raw const globals).cast_mut().cast();
            (library.listen)(registry, REGISTRY_LISTENER.0.as_ptr(), data);
            (library.roundtrip)(display, queue);
            let name = globals.shm.load(SeqCst);
            let mut shm = std::ptr::null_mut();
            if name != 0 {
                // wl_registry.bind
                let interface = Argument { text: c"wl_shm".as_ptr() };
                let (name, version) = (Argument { unsigned: name }, Argument { unsigned: 1 });
                shm = library.request(registry, 0, library.shm, 1, 0, &mut [name, interface, version, NEW]);
                (library.listen)(shm, SHM_LISTENER.0.as_ptr(), std::ptr::null_mut());
            }
            (library.destroy)(registry);
            let made = Window { library, display, queue, shm, surface: own, talk: Mutex::new(()) };
            if shm.is_null() { Err(lost("the compositor has no wl_shm")) } else { Ok(made) }
        }
    }

    /// Reads what the compositor has to say until `ready`, or for a while; an error when it is gone.
    fn wait(&self, ready: impl Fn() -> bool) -> Answer<bool> {
        let l = self.library;
        let end = Instant::now() + PATIENCE;
        loop {
            // SAFETY: display and queue are alive; a prepared read is read or cancelled.
            unsafe {
                while (l.prepare_read)(self.display, self.queue) != 0 {
                    if (l.dispatch)(self.display, self.queue) < 0 {
                        return Err(LOST);
                    }
                }
                (l.flush)(self.display);
                let left = end.saturating_duration_since(Instant::now());
                if ready() || left.is_zero() {
                    (l.cancel_read)(self.display);
                    return Ok(ready());
                }
                let mut fd = libc::pollfd { fd: (l.fd)(self.display), events: libc::POLLIN, revents: 0 };
                if libc::poll(&mut fd, 1, left.as_millis() as c_int + 1) > 0 {
                    if (l.read)(self.display) < 0 {
                        return Err(LOST);
                    }
                } else {
                    (l.cancel_read)(self.display);
                }
                if (l.dispatch)(self.display, self.queue) < 0 {
                    return Err(LOST);
                }
            }
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: they are no longer used.
        unsafe {
            (self.library.destroy_wrapper)(self.surface);
            if !self.shm.is_null() {
                (self.library.destroy)(self.shm);
            }
            (self.library.destroy_queue)(self.queue);
        }
    }
}

/// A picture's memory, shared with the compositor.
struct Shared {
    buffer: Proxy,
    /// The compositor has given it back.
    free: Box<AtomicBool>,
    at: *mut u8,
    bytes: usize,
    /// Width, height, format.
    shape: (u32, u32, u32),
}

/// What a presentation engine keeps at the compositor.
pub(crate) struct Canvas<'a> {
    window: &'a Window,
    buffers: Vec<Shared>,
    /// The last picture's frame callback, and whether it has come.
    frame: Option<(Proxy, Box<AtomicBool>)>,
}

/// Buffers that a compositor may hold at a time.
const BUFFERS: usize = 4;

impl<'a> Canvas<'a> {
    pub fn new(window: &'a Window) -> Canvas<'a> {
        Canvas { window, buffers: vec![], frame: None }
    }

    /// Copies a picture and commits it. `waits`: after the last one's frame, as the compositor says when that was due.
    ///
    /// # Errors
    /// `ERROR_SURFACE_LOST_KHR` when the compositor is gone.
    pub fn show(&mut self, picture: &Picture, waits: bool) -> Answer {
        let _talk = self.window.talk.lock();
        let (w, l) = (self.window, self.window.library);
        if let Some((callback, came)) = self.frame.take() {
            if waits {
                w.wait(|| came.load(SeqCst))?;
            }
            // SAFETY: ours, and its flag lives until here.
            unsafe { (l.destroy)(callback) };
        }
        let format = if picture.opaque { XRGB8888 } else { ARGB8888 };
        let shape = (picture.width, picture.height, format);
        let Some(at) = self.free_buffer(shape)? else { return Ok(()) };
        let b = &self.buffers[at];
        let pitch = picture.width as usize * 4;
        // SAFETY: mapped for as long as the buffer, and the compositor has given it back.
        let memory = unsafe { std::slice::from_raw_parts_mut(b.at, b.bytes) };
        picture.convert(0..picture.height as usize, &PIXELS, memory, pitch);
        b.free.store(false, SeqCst);
        let came = Box::new(AtomicBool::new(false));
        // SAFETY: proxies are alive; requests of wl_surface: frame, attach, damage, commit.
        unsafe {
            let callback = l.request(w.surface, 3, l.callback, 1, 0, &mut [NEW]);
            (l.listen)(callback, DONE_LISTENER.0.as_ptr(), (&raw const *came).cast_mut().cast());
            self.frame = Some((callback, came));
            let version = (l.version)(w.surface);
            let zero = Argument { number: 0 };
            let buffer = Argument { object: b.buffer };
            l.request(w.surface, 1, std::ptr::null(), version, 0, &mut [buffer, zero, zero]);
            let all = Argument { number: i32::MAX };
            l.request(w.surface, 2, std::ptr::null(), version, 0, &mut [zero, zero, all, all]);
            l.request(w.surface, 6, std::ptr::null(), version, 0, &mut []);
            (l.flush)(w.display);
        }
        w.wait(|| true).map(|_| ())
    }

    /// The place of a buffer of this shape that the compositor does not read; none: it keeps them all.
    fn free_buffer(&mut self, shape: (u32, u32, u32)) -> Answer<Option<usize>> {
        let l = self.window.library;
        let is_free = |b: &Shared| b.free.load(SeqCst);
        // Those of another size go when they come back.
        let mut k = 0;
        while k < self.buffers.len() {
            if self.buffers[k].shape != shape && is_free(&self.buffers[k]) {
                self.buffers.swap_remove(k).end(l);
            } else {
                k += 1;
            }
        }
        let fits = |b: &Shared| b.shape == shape && is_free(b);
        if let Some(at) = self.buffers.iter().position(fits) {
            return Ok(Some(at));
        }
        if self.buffers.len() < BUFFERS {
            self.buffers.push(Shared::new(self.window, shape)?);
            return Ok(Some(self.buffers.len() - 1));
        }
        self.window.wait(|| self.buffers.iter().any(fits))?;
        Ok(self.buffers.iter().position(fits))
    }
}

impl Shared {
    fn new(w: &Window, shape: (u32, u32, u32)) -> Answer<Shared> {
        let l = w.library;
        let (width, height, format) = shape;
        let bytes = width as usize * 4 * height as usize;
        let size = i32::try_from(bytes).map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
        // SAFETY: a fresh descriptor, and a fresh mapping of all of it.
        unsafe {
            let fd = libc::memfd_create(c"tuff-wsi".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            }
            let fd = OwnedFd::from_raw_fd(fd);
            if files::within_limits(|| libc::ftruncate(fd.as_raw_fd(), bytes as i64)) != 0 {
                return Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            }
            let both = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_SHARED, fd.as_raw_fd(), 0);
            if at == libc::MAP_FAILED {
                return Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            }
            // wl_shm.create_pool, wl_shm_pool.create_buffer, wl_shm_pool.destroy
            let (fd, size) = (Argument { fd: fd.as_raw_fd() }, Argument { number: size });
            let pool = l.request(w.shm, 0, l.pool, 1, 0, &mut [NEW, fd, size]);
            let number = |n: u32| Argument { number: n as i32 };
            let format = Argument { unsigned: format };
            let mut arguments = [NEW, number(0), number(width), number(height), number(width * 4), format];
            let buffer = l.request(pool, 0, l.buffer, 1, 0, &mut arguments);
            l.request(pool, 1, std::ptr::null(), 1, DESTROY, &mut []);
            let free = Box::new(AtomicBool::new(true));
            (l.listen)(buffer, DONE_LISTENER.0.as_ptr(), (&raw const *free).cast_mut().cast());
            Ok(Shared { buffer, free, at: at.cast(), bytes, shape })
        }
    }

    fn end(self, l: &Library) {
        // SAFETY: wl_buffer.destroy; no slice of the memory exists.
        unsafe {
            l.request(self.buffer, 0, std::ptr::null(), 1, DESTROY, &mut []);
            libc::munmap(self.at.cast(), self.bytes);
        }
    }
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        let _talk = self.window.talk.lock();
        let l = self.window.library;
        if let Some((callback, _)) = self.frame.take() {
            // SAFETY: ours.
            unsafe { (l.destroy)(callback) };
        }
        // What the surface shows stays: the compositor has its own hold of the memory.
        self.buffers.drain(..).for_each(|b| b.end(l));
        // SAFETY: the display is alive.
        unsafe { (l.flush)(self.window.display) };
    }
}
