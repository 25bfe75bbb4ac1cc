//! The application's connection to its X server, from libxcb or Xlib. Both libraries are loaded by name, for an
//! application that shows windows has them loaded already and one that does not needs none.

use crate::base::answer::Answer;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{VisualClass, Visualtype};
use x11rb::xcb_ffi::{XCBConnection, load_libxcb};

/// A connection, and what its server said of itself.
pub(crate) struct Server {
    pub connection: XCBConnection,
}

impl Server {
    /// The visual of this number and its depth.
    pub fn visual(&self, id: u32) -> Option<(Visualtype, u8)> {
        let depths = self.connection.setup().roots.iter().flat_map(|s| &s.allowed_depths);
        depths.flat_map(|d| d.visuals.iter().map(|v| (*v, d.depth))).find(|(v, _)| v.visual_id == id)
    }

    /// Whether pixels of this visual are colours, not numbers of colours.
    pub fn shows(&self, visual: u32) -> bool {
        self.visual(visual)
            .is_some_and(|(v, _)| v.class == VisualClass::TRUE_COLOR || v.class == VisualClass::DIRECT_COLOR)
    }
}

fn lost(why: &str) -> vk::Result {
    crate::base::debug::log_error(&format!("X11: {why}"));
    vk::Result::ERROR_SURFACE_LOST_KHR
}

/// The server behind a libxcb connection of the application's, which stays open for as long as the result lives.
///
/// # Safety
/// `connection` is an open `xcb_connection_t`.
pub(crate) unsafe fn of_xcb(connection: *mut c_void) -> Answer<Server> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        if connection.is_null() {
            return Err(lost("the connection is null"));
        }
        load_libxcb().map_err(|e| lost(&format!("libxcb.so.1 can't be loaded: {e}")))?;
        // A connection that failed has no server to speak of.
        if xlib().has_error.is_some_and(|f| f(connection) != 0) {
            return Err(lost("the connection is broken"));
        }
        let connection = XCBConnection::from_raw_xcb_connection(connection, false);
        Ok(Server { connection: connection.map_err(|e| lost(&format!("the connection is unusable: {e}")))? })
    }
}

struct Xlib {
    /// `xcb_connection_has_error` of libxcb.
    has_error: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    /// `XGetXCBConnection` of libX11-xcb.
    get_xcb: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
    display_string: Option<unsafe extern "C" fn(*mut c_void) -> *const c_char>,
    sync: Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>,
}

unsafe fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the handle is null or that of a library that stays open (the caller's).
    unsafe { if library.is_null() { std::ptr::null_mut() } else { libc::dlsym(library, name.as_ptr()) } }
}

fn xlib() -> &'static Xlib {
    static XLIB: OnceLock<Xlib> = OnceLock::new();
    // SAFETY: the libraries are the system's; the functions' types are those of xcb/xcb.h, X11/Xlib.h and
    // X11/Xlib-xcb.h. They stay loaded.
    XLIB.get_or_init(|| unsafe {
        let open = |name: &CStr| libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL);
        let (xcb, bridge, x11) = (open(c"libxcb.so.1"), open(c"libX11-xcb.so.1"), open(c"libX11.so.6"));
        Xlib {
            has_error: std::mem::transmute::<*mut c_void, Option<_>>(symbol(
                xcb,
                c"xcb_connection_has_error",
            )),
            get_xcb: std::mem::transmute::<*mut c_void, Option<_>>(symbol(bridge, c"XGetXCBConnection")),
            display_string: std::mem::transmute::<*mut c_void, Option<_>>(symbol(x11, c"XDisplayString")),
            sync: std::mem::transmute::<*mut c_void, Option<_>>(symbol(x11, c"XSync")),
        }
    })
}

/// The server behind a display of Xlib's: over the display's own connection, or, where libX11-xcb is not installed,
/// over another to the same server.
///
/// # Safety
/// `display` is an open `Display`.
pub(crate) unsafe fn of_xlib(display: *mut c_void) -> Answer<Server> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        if display.is_null() {
            return Err(lost("the display is null"));
        }
        let x = xlib();
        if let Some(get_xcb) = x.get_xcb {
            return of_xcb(get_xcb(display));
        }
        let (Some(name), Some(sync)) = (x.display_string, x.sync) else {
            return Err(lost("neither libX11-xcb.so.1 nor libX11.so.6 can be loaded"));
        };
        load_libxcb().map_err(|e| lost(&format!("libxcb.so.1 can't be loaded: {e}")))?;
        // What the application has asked for so far, its window for one, the server must know before the other
        // connection speaks of it.
        sync(display, 0);
        let connection = XCBConnection::connect(Some(CStr::from_ptr(name(display))));
        let (connection, _) = connection.map_err(|e| lost(&format!("no second connection: {e}")))?;
        Ok(Server { connection })
    }
}
