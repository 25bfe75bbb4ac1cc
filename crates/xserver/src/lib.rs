//! An X server without a screen (Debian's xvfb), and its windows: for tests and benches. What goes wrong panics, with what is
//! needed.

use std::io::{BufRead, BufReader, IoSlice};
use std::process::{Child, Command, Stdio};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, ImageFormat, MapState, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;
use x11rb::xcb_ffi::XCBConnection;

pub struct XServer {
    child: Child,
    pub name: String,
}

impl XServer {
    /// A server with a screen of this depth; `arguments` as Xvfb takes them.
    pub fn new(depth: u32, arguments: &[&str]) -> XServer {
        let mut child = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0"])
            .arg(format!("800x600x{depth}"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need Xvfb (Debian: xvfb)");
        let mut number = String::new();
        let out = child.stdout.take().expect("its output is ours");
        BufReader::new(out).read_line(&mut number).expect("it says its number");
        let name = format!(":{}", number.trim());
        assert!(name.len() > 1, "Xvfb did not start");
        XServer { child, name }
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A window, over a connection of libxcb's as an application has it.
pub struct Window {
    pub connection: XCBConnection,
    pub id: u32,
    pub visual: u32,
}

impl Window {
    pub fn new(server: &XServer, width: u16, height: u16) -> Window {
        let name = std::ffi::CString::new(server.name.clone()).expect("a name");
        let (connection, screen) = XCBConnection::connect(Some(&name)).expect("the server answers");
        let screen = &connection.setup().roots[screen];
        let (root, depth, visual) = (screen.root, screen.root_depth, screen.root_visual);
        let id = connection.generate_id().expect("an id");
        let aux = CreateWindowAux::new().background_pixel(0);
        // Not flushed: the driver speaks on the same connection.
        connection
            .create_window(depth, id, root, 0, 0, width, height, 0, WindowClass::INPUT_OUTPUT, visual, &aux)
            .expect("a window is asked for");
        connection.map_window(id).expect("it is to be seen");
        Window { connection, id, visual }
    }

    pub fn raw(&self) -> *mut std::ffi::c_void {
        self.connection.get_raw_xcb_connection()
    }

    pub fn resize(&self, width: u32, height: u32) {
        let aux = ConfigureWindowAux::new().width(width).height(height);
        self.connection.configure_window(self.id, &aux).expect("the size is asked for");
    }

    pub fn destroy(&self) {
        self.connection.destroy_window(self.id).expect("the end is asked for");
        self.connection.sync().expect("the server answers");
    }

    /// The bytes of each pixel, row by row; four each of a screen of depth 24, two of 16.
    pub fn pixels(&self, width: u16, height: u16) -> Vec<u8> {
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, self.id, 0, 0, width, height, !0);
        image.expect("asked").reply().expect("the window is there").data
    }
}

/// The pixels of another program's window, kept beyond its end (extension Composite, written by hand for two
/// requests).
pub struct Kept {
    connection: XCBConnection,
    pixmap: u32,
}

impl Kept {
    /// Of the first mapped window of this size, if there is one yet.
    pub fn find(server: &XServer, width: u16, height: u16) -> Option<Kept> {
        let name = std::ffi::CString::new(server.name.clone()).expect("a name");
        let (connection, screen) = XCBConnection::connect(Some(&name)).expect("the server answers");
        let root = connection.setup().roots[screen].root;
        let windows = connection.query_tree(root).ok()?.reply().ok()?.children;
        let id = windows.into_iter().find(|&w| {
            let size = connection.get_geometry(w).ok().and_then(|g| g.reply().ok());
            let seen = connection.get_window_attributes(w).ok().and_then(|a| a.reply().ok());
            size.is_some_and(|g| (g.width, g.height) == (width, height))
                && seen.is_some_and(|a| a.map_state == MapState::VIEWABLE)
        })?;
        let major = connection.extension_information("Composite").ok()??.major_opcode;
        let pixmap = connection.generate_id().ok()?;
        // CompositeRedirectWindow, automatic; CompositeNameWindowPixmap.
        for (minor, value) in [(1, 0), (6, pixmap)] {
            let mut request = vec![major, minor, 3, 0];
            request.extend(id.to_ne_bytes());
            request.extend(value.to_ne_bytes());
            let sent = connection.send_request_without_reply(&[IoSlice::new(&request)], vec![]).ok()?;
            sent.check().ok()?;
        }
        Some(Kept { connection, pixmap })
    }

    /// As [`Window::pixels`].
    pub fn pixels(&self, width: u16, height: u16) -> Vec<u8> {
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, self.pixmap, 0, 0, width, height, !0);
        image.expect("asked").reply().expect("the pixels are kept").data
    }
}
