//! Windows has no compositor that speaks Wayland: there are no such surfaces.

use super::pixels::Picture;
use crate::base::answer::Answer;

pub(crate) enum Window {}

/// What a presentation engine keeps of a window.
pub(crate) struct Canvas<'a>(&'a Window);

impl<'a> Canvas<'a> {
    pub fn new(window: &'a Window) -> Canvas<'a> {
        Canvas(window)
    }

    pub fn show(&mut self, _: &Picture, _: bool) -> Answer {
        match *self.0 {}
    }
}
