//! A window of Windows: its size, putting a picture into it.

use super::pixels::{self, PixelLayout};
use crate::base::answer::Answer;
use std::time::Duration;
use texel::memory::Bound;
use windows_sys::Win32::Foundation::{HWND, RECT};
use windows_sys::Win32::Graphics::Gdi::*;
use windows_sys::Win32::UI::WindowsAndMessaging::GetClientRect;

pub(crate) struct Window {
    handle: HWND,
}

// SAFETY: a number by which the system finds the window, from any thread.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

const LOST: vk::Result = vk::Result::ERROR_SURFACE_LOST_KHR;

/// What GDI calls 32 bits a pixel: blue, green, red, and a byte that means nothing.
const LAYOUT: PixelLayout =
    PixelLayout { bytes: 4, masks: [0xFF_0000, 0xFF00, 0xFF], depth: 24, big_endian: false };

impl Window {
    /// Whether there is such a window is asked when it is used.
    pub fn new(handle: isize) -> Window {
        Window { handle: handle as HWND }
    }

    /// Pixels of the window's client area now.
    ///
    /// # Errors
    /// `ERROR_SURFACE_LOST_KHR` when there is no such window any more.
    pub fn extent(&self) -> Answer<vk::Extent2D> {
        let mut r = RECT::default();
        // SAFETY: any handle may be asked about; it fills the structure.
        match unsafe { GetClientRect(self.handle, &mut r) } {
            0 => Err(LOST),
            _ => Ok(vk::Extent2D { width: (r.right - r.left) as u32, height: (r.bottom - r.top) as u32 }),
        }
    }

    pub fn shows(&self) -> bool {
        self.extent().is_ok()
    }

    pub fn has_alpha(&self) -> bool {
        LAYOUT.spare_bits() >= 8
    }

    /// The time between two pictures of the window's screen; `None` where nobody is to wait (`TUFF_REFRESH=0`).
    pub fn refresh(&self) -> Option<Duration> {
        let hz = settings::get().refresh.unwrap_or_else(|| {
            // SAFETY: the window's context, given back at once.
            let told = unsafe {
                let dc = GetDC(self.handle);
                let told = GetDeviceCaps(dc, VREFRESH as i32);
                ReleaseDC(self.handle, dc);
                told
            };
            // 0 and 1 are "the hardware's default".
            if (20..=1000).contains(&told) { told as u32 } else { 60 }
        });
        (hz != 0).then(|| Duration::from_secs(1) / hz)
    }
}

/// What a presentation engine keeps of a window.
pub(crate) struct Canvas<'a> {
    window: &'a Window,
    rows: Vec<u8>,
}

impl<'a> Canvas<'a> {
    pub fn new(window: &'a Window) -> Answer<Canvas<'a>> {
        let _ = window.extent()?;
        Ok(Canvas { window, rows: vec![] })
    }

    /// Copies a picture to the upper left corner of the window's client area; it may be used again when this returns, with what the window
    /// is now.
    ///
    /// # Errors
    /// `ERROR_SURFACE_LOST_KHR` when there is no window.
    pub fn show(
        &mut self,
        picture: &pixels::Picture,
        _image: usize,
        _memory: Option<&Bound>,
    ) -> Answer<vk::Extent2D> {
        let (w, h) = (picture.width as usize, picture.height as usize);
        self.rows.resize(w * h * 4, 0);
        picture.convert(0..h, &LAYOUT, &mut self.rows, w * 4);
        let mut info = BITMAPINFO::default();
        info.bmiHeader = BITMAPINFOHEADER {
            biSize: size_of::<BITMAPINFOHEADER>() as u32,
            biWidth: w as i32,
            // The first row is the upper one.
            biHeight: -(h as i32),
            biPlanes: 1,
            biBitCount: 32,
            biCompression: BI_RGB,
            ..Default::default()
        };
        // SAFETY: the window's context, given back at once; as many rows as told lie there.
        let done = unsafe {
            let dc = GetDC(self.window.handle);
            let (w, h) = (w as u32, h as u32);
            let from = self.rows.as_ptr().cast();
            let done = SetDIBitsToDevice(dc, 0, 0, w, h, 0, 0, 0, h, from, &info, DIB_RGB_COLORS);
            ReleaseDC(self.window.handle, dc);
            done
        };
        let now = self.window.extent()?;
        if done == 0 && h > 0 && now.width > 0 { Err(LOST) } else { Ok(now) }
    }
}
