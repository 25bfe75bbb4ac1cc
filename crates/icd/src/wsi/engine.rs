//! The presentation engine: what a swapchain's images are doing, and the thread that shows them.
//!
//! State changes happen under the device's hub, so that waiting for an image is the same as waiting for a fence.

use super::pixels::Picture;
use super::surface::{Place, Target};
use super::wayland;
use super::window::{Canvas, Window};
use crate::base::answer::Answer;
use crate::device::Inner;
use machine::sync::{Fence, Hub};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use texel::image::discarded::Part;
use texel::memory::Bound;

/// What an image of a swapchain is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// It can be acquired.
    Free,
    /// It is the application's.
    Acquired,
    /// It was presented, and waits to be shown.
    Presented,
}

/// An image on its way to the surface.
pub(crate) struct Frame {
    pub image: u32,
    pub mode: vk::PresentModeKHR,
    /// Of VK_KHR_present_id; 0 for none.
    pub id: u64,
    /// Of VK_EXT_swapchain_maintenance1: signalled when the presentation is done with, in the order of presentation.
    /// A frame that takes the place of another (mailbox) has that one's as well.
    pub fences: Vec<Arc<Fence>>,
}

pub(crate) struct State {
    pub phases: Vec<Phase>,
    /// Images that can be acquired, the one that has been for longest first.
    pub free: VecDeque<u32>,
    /// Frames whose waits are over, in the queue's order.
    pending: VecDeque<Frame>,
    /// Frames presented and not yet shown, those on the queue included.
    under_way: usize,
    /// The largest id that was shown.
    pub shown: u64,
    /// Another swapchain has taken this one's place.
    pub retired: bool,
    closed: bool,
    /// What the surface is to this swapchain: `SUCCESS`, `SUBOPTIMAL_KHR`, `ERROR_SURFACE_LOST_KHR`.
    pub status: vk::Result,
}

impl State {
    fn release(&mut self, image: u32) {
        self.phases[image as usize] = Phase::Free;
        self.free.push_back(image);
    }

    /// Ends a frame, shown or not.
    fn end(&mut self, frame: &Frame) {
        self.under_way -= 1;
        self.release(frame.image);
        for f in &frame.fences {
            f.mark.store(0, SeqCst);
            f.set(true);
        }
    }
}

pub(crate) struct Engine {
    pub device: Arc<Inner>,
    pub target: Arc<Target>,
    pub images: Vec<Arc<texel::image::Image>>,
    /// The format the images are shown as.
    pub format: vk::Format,
    pub extent: vk::Extent2D,
    pub opaque: bool,
    /// Whether the images fit the surface only at its own size.
    pub exact: bool,
    /// Locked inside the hub's lock, never the other way round.
    state: Mutex<State>,
}

impl Engine {
    pub fn new(
        device: Arc<Inner>,
        target: Arc<Target>,
        images: Vec<Arc<texel::image::Image>>,
        (format, extent): (vk::Format, vk::Extent2D),
        opaque: bool,
        exact: bool,
    ) -> Engine {
        let state = State {
            phases: vec![Phase::Free; images.len()],
            free: (0..images.len() as u32).collect(),
            pending: VecDeque::new(),
            under_way: 0,
            shown: 0,
            retired: false,
            closed: false,
            status: vk::Result::SUCCESS,
        };
        Engine { device, target, images, format, extent, opaque, exact, state: Mutex::new(state) }
    }

    fn hub(&self) -> &Hub {
        self.device.hub()
    }

    /// Changes the state, and wakes the threads that wait for it.
    pub fn change<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        self.hub().change(|| f(&mut self.state.lock()))
    }

    pub fn look<R>(&self, f: impl FnOnce(&State) -> R) -> R {
        f(&self.state.lock())
    }

    /// Waits for `ready` as [`Hub::wait`] does.
    pub fn wait(&self, timeout: u64, mut ready: impl FnMut(&mut State) -> bool + Send) -> bool {
        self.hub().wait(timeout, || ready(&mut self.state.lock()))
    }

    /// Memory of an image, for another that is to be bound to it.
    pub fn memory(&self, image: u32) -> Option<Bound> {
        let image = self.images.get(image as usize)?;
        image.share();
        image.bound().cloned()
    }

    /// What the surface was to this swapchain when a frame was last shown: nobody asks a server each time that
    /// something is presented, and waits for its answer.
    pub fn status(&self) -> vk::Result {
        self.look(|s| s.status)
    }

    /// What a surface of these pixels is to this swapchain; `None` where it takes any.
    fn fits(&self, surface: Option<vk::Extent2D>) -> vk::Result {
        match surface {
            Some(e) if self.exact && e != self.extent => vk::Result::SUBOPTIMAL_KHR,
            _ => vk::Result::SUCCESS,
        }
    }

    /// Takes an acquired image from the application; false if it is not the application's.
    pub fn take(&self, image: u32) -> bool {
        let mut state = self.state.lock();
        let Some(phase) = state.phases.get_mut(image as usize).filter(|p| **p == Phase::Acquired) else {
            return false;
        };
        *phase = Phase::Presented;
        state.under_way += 1;
        true
    }

    /// A frame's waits are over: its image is read.
    pub fn reads(&self, frame: &Frame) {
        let Some(image) = self.images.get(frame.image as usize) else { return };
        let [width, height, _] = image.extent;
        let whole = Part {
            aspects: vk::ImageAspectFlags::COLOR,
            levels: 0..1,
            layers: 0..image.layers,
            area: [0..width, 0..height],
        };
        let report = &*self.device.gpu.shared.report;
        machine::undefined::read(report, image, &whole, || "vkQueuePresentKHR".into());
        super::frames::keep(|| self.picture(frame));
    }

    /// A frame's waits are over: called by the queue's thread, in the order of presentation.
    pub fn arrive(&self, mut frame: Frame) {
        self.change(|s| {
            if s.closed {
                return s.end(&frame);
            }
            if frame.mode == vk::PresentModeKHR::MAILBOX {
                let is_mailbox = |f: &Frame| f.mode == vk::PresentModeKHR::MAILBOX;
                if s.pending.back().is_some_and(is_mailbox)
                    && let Some(mut stale) = s.pending.pop_back()
                {
                    let mut fences = std::mem::take(&mut stale.fences);
                    s.end(&stale);
                    fences.append(&mut frame.fences);
                    frame.fences = fences;
                }
            }
            s.pending.push_back(frame);
        });
    }

    /// Gives acquired images back unused.
    pub fn give_back(&self, images: &[u32]) -> bool {
        self.change(|s| {
            let all = images.iter().all(|&i| s.phases.get(i as usize) == Some(&Phase::Acquired));
            if all {
                images.iter().for_each(|&i| s.release(i));
            }
            all
        })
    }

    /// Ends the engine's thread once it has shown what is on its way, or after a second.
    pub fn close(&self) {
        self.wait(1_000_000_000, |s| s.under_way == 0 || s.status.as_raw() < 0);
        self.change(|s| s.closed = true);
    }

    /// Whether this is its surface's swapchain. One that was destroyed is not, though a queue may hold its engine
    /// for a moment longer.
    pub fn is_current(&self) -> bool {
        self.look(|s| !s.retired && !s.closed)
    }

    fn picture(&self, frame: &Frame) -> Option<Picture> {
        let surface = self.images[frame.image as usize].surface(vk::ImageAspectFlags::COLOR, 0)?;
        let (width, height) = (self.extent.width, self.extent.height);
        Some(Picture { surface, format: self.format, width, height, opaque: self.opaque })
    }

    /// The thread: shows frames until the swapchain is closed or the device lost.
    pub fn run(&self) {
        let mut screen = match &self.target.place {
            Place::Headless => Screen::None,
            Place::Window(window) => Screen::New(window),
            Place::Wayland(window) => Screen::Wayland(wayland::Canvas::new(window)),
        };
        let refresh = screen.refresh();
        let mut last: Option<Instant> = None;
        loop {
            self.wait(u64::MAX, |s| !s.pending.is_empty() || s.closed);
            // One picture for each refresh; late ones are shown at once, for no screen tells its moments.
            let next = last.zip(refresh).map(|(last, refresh)| last + refresh);
            if let Some(next) = next {
                loop {
                    let left = next.saturating_duration_since(Instant::now());
                    let paced = |s: &State| s.pending.front().is_some_and(|f| waits(f.mode));
                    if left.is_zero() || self.hub().is_lost() {
                        break;
                    }
                    if self.wait(left.as_nanos() as u64, |s| s.closed || !paced(s)) {
                        break;
                    }
                }
            }
            if self.hub().is_lost() {
                return;
            }
            let (frame, closed) = {
                let mut state = self.state.lock();
                (state.pending.pop_front(), state.closed)
            };
            let Some(frame) = frame else {
                if closed {
                    return;
                }
                continue;
            };
            let shown = match self.picture(&frame) {
                Some(p) if !closed => {
                    let i = frame.image as usize;
                    screen.show(&p, i, self.images[i].bound(), waits(frame.mode))
                }
                _ => Ok(None),
            };
            last = Some(Instant::now());
            self.change(|s| {
                s.end(&frame);
                if shown.is_ok() {
                    s.shown = s.shown.max(frame.id);
                }
                if s.status.as_raw() >= 0 {
                    s.status = shown.map_or_else(|e| e, |extent| self.fits(extent));
                }
            });
        }
    }
}

/// Whether frames of this mode wait for the screen.
fn waits(mode: vk::PresentModeKHR) -> bool {
    mode != vk::PresentModeKHR::IMMEDIATE && mode != vk::PresentModeKHR::FIFO_RELAXED
}

/// What the thread shows frames on.
enum Screen<'a> {
    None,
    New(&'a Window),
    Ready(Canvas<'a>),
    /// A compositor says itself when a frame was due.
    Wayland(wayland::Canvas<'a>),
}

impl Screen<'_> {
    fn refresh(&self) -> Option<Duration> {
        match self {
            Screen::New(w) => w.refresh(),
            _ => None,
        }
    }

    /// As [`Canvas::show`].
    fn show(
        &mut self,
        picture: &Picture,
        image: usize,
        memory: Option<&Bound>,
        waits: bool,
    ) -> Answer<Option<vk::Extent2D>> {
        if let Screen::New(w) = *self {
            *self = Screen::Ready(Canvas::new(w)?);
        }
        match self {
            Screen::Ready(canvas) => canvas.show(picture, image, memory).map(Some),
            Screen::Wayland(canvas) => canvas.show(picture, waits).map(|()| None),
            _ => Ok(None),
        }
    }
}
