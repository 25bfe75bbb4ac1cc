//! A window of an X server: its size, its pixels' layout, putting a picture into it.

use super::pixels::{self, PixelLayout};
use super::shm::{Attached, Segment, Sent};
use super::xlib::Server;
use crate::base::answer::Answer;
use std::collections::HashMap;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;
use texel::memory::Bound;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::cookie::Cookie;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::{
    ConnectionExt as _, CreateGCAux, Gcontext, GetGeometryReply, ImageFormat, ImageOrder,
};
use x11rb::xcb_ffi::XCBConnection;

pub(crate) struct Window {
    server: Server,
    id: u32,
    pixels: OnceLock<Answer<Pixels>>,
    refresh: OnceLock<Option<Duration>>,
}

#[derive(Clone, Copy)]
struct Pixels {
    depth: u8,
    layout: PixelLayout,
    /// Rows of an image begin at multiples of this many bytes.
    pad: usize,
}

/// Requests' and replies' troubles with a window that is gone, or a server that is.
const LOST: vk::Result = vk::Result::ERROR_SURFACE_LOST_KHR;

fn lost<E>(_: E) -> vk::Result {
    LOST
}

fn extent(g: GetGeometryReply) -> vk::Extent2D {
    vk::Extent2D { width: g.width.into(), height: g.height.into() }
}

/// The time between two pictures of a screen that reports none.
const REFRESH: Duration = Duration::from_nanos(1_000_000_000 / 60);

impl Window {
    /// A window of this server's. Whether there is one is asked when it is used.
    pub fn new(server: Server, id: u32) -> Answer<Window> {
        Ok(Window { server, id, pixels: OnceLock::new(), refresh: OnceLock::new() })
    }

    /// Pixels of the window now.
    ///
    /// # Errors
    /// `ERROR_SURFACE_LOST_KHR` when there is no such window any more.
    pub fn extent(&self) -> Answer<vk::Extent2D> {
        self.ask_extent().map_err(lost)?.reply().map(extent).map_err(lost)
    }

    fn ask_extent(&self) -> Result<Cookie<'_, XCBConnection, GetGeometryReply>, ConnectionError> {
        self.server.connection.get_geometry(self.id)
    }

    /// Whether the window's pixels are colours.
    pub fn shows(&self) -> bool {
        self.pixels().is_ok()
    }

    /// Whether the window's pixels have an alpha that a compositor may use.
    pub fn has_alpha(&self) -> bool {
        self.pixels().is_ok_and(|p| p.layout.spare_bits() >= 8)
    }

    /// The time between two pictures of the window's screen; `None` where nobody is to wait (`TUFF_REFRESH=0`).
    pub fn refresh(&self) -> Option<Duration> {
        *self.refresh.get_or_init(|| match settings::get().refresh {
            Some(0) => None,
            Some(hz) => Some(Duration::from_secs(1) / hz),
            None => Some(self.screen_refresh()),
        })
    }

    fn screen_refresh(&self) -> Duration {
        let c = &self.server.connection;
        let there = c.extension_information(x11rb::protocol::randr::X11_EXTENSION_NAME);
        if !matches!(there, Ok(Some(_))) {
            return REFRESH;
        }
        let rate = c.randr_get_screen_info(self.id).ok().and_then(|r| r.reply().ok()).map(|r| r.rate);
        match rate {
            Some(hz @ 20..=1000) => Duration::from_secs(1) / u32::from(hz),
            _ => REFRESH,
        }
    }

    fn pixels(&self) -> Answer<Pixels> {
        *self.pixels.get_or_init(|| self.find_pixels())
    }

    fn find_pixels(&self) -> Answer<Pixels> {
        let c = &self.server.connection;
        let asked = c.get_window_attributes(self.id).map_err(lost)?;
        let visual = asked.reply().map_err(lost)?.visual;
        let setup = c.setup();
        let unfit = || {
            crate::base::debug::log_error(&format!(
                "X11: window {:#x} is of visual {visual:#x}, no colours",
                self.id
            ));
            LOST
        };
        let (v, depth) =
            self.server.visual(visual).filter(|_| self.server.shows(visual)).ok_or_else(unfit)?;
        let format = setup.pixmap_formats.iter().find(|f| f.depth == depth).ok_or_else(unfit)?;
        let layout = PixelLayout {
            bytes: usize::from(format.bits_per_pixel) / 8,
            masks: [v.red_mask, v.green_mask, v.blue_mask],
            depth: depth.into(),
            big_endian: setup.image_byte_order == ImageOrder::MSB_FIRST,
        };
        if !(2..=4).contains(&layout.bytes) {
            return Err(unfit());
        }
        Ok(Pixels { depth, layout, pad: usize::from(format.scanline_pad) / 8 })
    }
}

/// What a presentation engine keeps at the server.
pub(crate) struct Canvas<'a> {
    window: &'a Window,
    pixels: Pixels,
    gc: Gcontext,
    /// Memory of the swapchain's images by number, where the server could be shown it.
    images: HashMap<usize, Option<Attached<'a>>>,
    /// Shared with the server, where that is possible.
    segment: Option<Segment<'a>>,
    /// Rows that go over the wire.
    rows: Vec<u8>,
    /// Bytes of a picture shared with the server in vain: not tried again.
    refused: usize,
}

impl<'a> Canvas<'a> {
    pub fn new(window: &'a Window) -> Answer<Canvas<'a>> {
        let pixels = window.pixels()?;
        let c = &window.server.connection;
        let gc = c.generate_id().map_err(lost)?;
        // Without exposures: the application's event queue is no place for our business.
        let aux = CreateGCAux::new().graphics_exposures(0);
        c.create_gc(gc, window.id, &aux).map_err(lost)?.check().map_err(lost)?;
        Ok(Canvas { window, pixels, gc, images: HashMap::new(), segment: None, rows: Vec::new(), refused: 0 })
    }

    /// Copies a picture to the window's upper left corner. It may be used again when this returns, with what the window
    /// is now. `image`, `memory`: which of the swapchain's it is, and where it lies.
    ///
    /// # Errors
    /// `ERROR_SURFACE_LOST_KHR` when there is no window.
    pub fn show(
        &mut self,
        picture: &pixels::Picture,
        image: usize,
        memory: Option<&Bound>,
    ) -> Answer<vk::Extent2D> {
        let sent = match memory.and_then(|m| self.put_itself(picture, image, m)) {
            Some(sent) => Some(sent.map_err(lost)?),
            None => self.put(picture).map_err(lost)?,
        };
        // Asked before the other is answered: one way to the server and back does for both.
        let asked = self.window.ask_extent().map_err(lost)?;
        let now = asked.reply().map(extent).map_err(lost)?;
        sent.map_or(Ok(()), |s| s.check()).map_err(lost)?;
        Ok(now)
    }

    /// Sends a picture the ways that need a copy of it: through shared memory, or over the wire.
    fn put(&mut self, picture: &pixels::Picture) -> Result<Option<Sent<'a>>, ReplyError> {
        let (w, h) = (picture.width as usize, picture.height as usize);
        let pitch = (w * self.pixels.layout.bytes).next_multiple_of(self.pixels.pad.max(1));
        let bytes = pitch * h;
        if bytes == 0 {
            return Ok(None);
        }
        if self.segment.as_ref().is_none_or(|s| s.attached().bytes() < bytes) && self.refused != bytes {
            self.segment = Segment::new(&self.window.server.connection, bytes);
            if self.segment.is_none() {
                self.refused = bytes;
            }
        }
        let (layout, depth, gc, window) = (self.pixels.layout, self.pixels.depth, self.gc, self.window.id);
        if let Some(segment) = &mut self.segment {
            picture.convert(0..h, &layout, segment.memory(bytes), pitch);
            if pitch.is_multiple_of(layout.bytes) {
                let size = ((pitch / layout.bytes) as u16, w as u16, h as u16);
                return Ok(Some(segment.attached().put(window, gc, depth, size, 0)?));
            }
        }
        self.send(picture, pitch)
    }

    /// Has the server copy an image from its own memory; `None` where it can't.
    fn put_itself(
        &mut self,
        picture: &pixels::Picture,
        image: usize,
        memory: &Bound,
    ) -> Option<Result<Sent<'a>, ConnectionError>> {
        let s = &picture.surface;
        let pitch = u16::try_from(s.row_pitch / 4).ok()?;
        let rows_fit = s.row_pitch.is_multiple_of(self.pixels.pad.max(4) as u64);
        if !picture.is_shown_as_it_is(&self.pixels.layout) || !rows_fit {
            return None;
        }
        let attached = self.images.entry(image).or_insert_with(|| {
            // SAFETY: a new descriptor with no other owner.
            let fd = memory.memory.export().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })?;
            Attached::new(&self.window.server.connection, fd, memory.memory.size() as usize)
        });
        let attached = attached.as_ref()?;
        let offset = (s.base as u64).checked_sub(memory.memory.ptr() as u64)?;
        let end = s.row_pitch.checked_mul(picture.height.into())?.checked_add(offset)?;
        if end > attached.bytes() as u64 {
            return None;
        }
        let size = (pitch, picture.width as u16, picture.height as u16);
        Some(attached.put(self.window.id, self.gc, self.pixels.depth, size, offset.try_into().ok()?))
    }

    /// Sends a picture over the wire, as many rows at a time as a request may carry; the last request.
    fn send(&mut self, picture: &pixels::Picture, pitch: usize) -> Result<Option<Sent<'a>>, ReplyError> {
        /// Bytes of a PutImage request before its pixels, with the longer length field.
        const HEAD: usize = 28;
        let c = &self.window.server.connection;
        let most = (c.maximum_request_bytes().saturating_sub(HEAD) / pitch).max(1);
        let h = picture.height as usize;
        let mut last = None;
        for first in (0..h).step_by(most) {
            let rows = first..(first + most).min(h);
            self.rows.resize(pitch * rows.len(), 0);
            picture.convert(rows.clone(), &self.pixels.layout, &mut self.rows, pitch);
            let sent = c.put_image(
                ImageFormat::Z_PIXMAP,
                self.window.id,
                self.gc,
                picture.width as u16,
                rows.len() as u16,
                0,
                first as i16,
                0,
                self.pixels.depth,
                &self.rows,
            )?;
            if let Some(earlier) = last.replace(sent) {
                let earlier: Sent<'a> = earlier;
                earlier.check()?;
            }
        }
        Ok(last)
    }
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        if let Ok(c) = self.window.server.connection.free_gc(self.gc) {
            c.ignore_error();
        }
        let _ = self.window.server.connection.flush();
    }
}
