//! Images between vkQueuePresentKHR and their next use: the presentation engine reads each on a line of its own.

use super::{Tracker, Use, ranges};
use ash::vk;
use machine::hazards::Mark;
use machine::shared::Shared;
use sanitize::hazards::{Barrier, Line, Scope, Who, access, stage};
use std::sync::Arc;
use texel::image::Image;

/// The presentation engine's number among the queues, more than a device has.
const ENGINE: u32 = 15;

const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: vk::REMAINING_MIP_LEVELS,
    base_array_layer: 0,
    layer_count: vk::REMAINING_ARRAY_LAYERS,
};

/// Where an image is shown.
fn line(image: &Arc<Image>) -> Line {
    Line::Subpass { queue: ENGINE, pass: Arc::as_ptr(image).addr() as u64, index: 0 }
}

impl Tracker {
    /// The submission under way shows images, after what it waits for.
    pub fn presents(&mut self, images: &[Arc<Image>]) {
        if images.is_empty() {
            return;
        }
        for to in images.iter().map(line) {
            let all = |from: Line| Barrier { from, to, first: Scope::ALL, second: Scope::ALL, memory: None };
            for mark in &self.waited {
                match mark {
                    Some(mark) => self.order(all(Line::Signal(mark.tag))),
                    // Something that is no queue of this device: all that came before it is taken to be ordered.
                    None => (0..ENGINE).for_each(|queue| self.order(all(Line::Queue(queue)))),
                }
            }
        }
        let who = Who { tag: self.hazards().tag(), place: "vkQueuePresentKHR".into(), part: String::new() };
        let who = Arc::new(who);
        for image in images {
            let new = self.access(&who, line(image), Use::read(stage::PRESENTATION, access::PRESENTATION));
            let bytes = ranges::subresources(image, &WHOLE);
            self.tell_discarded(&new, &bytes, false);
            let found = self.touch(&new, &bytes);
            self.tell(&new, &found, false);
        }
    }
}

/// An image is acquired: the mark of the signal that it is not shown any more.
pub fn acquired(shared: &Shared, image: &Arc<Image>) -> Option<u64> {
    let h = shared.hazards.as_ref()?;
    let tag = h.tag();
    h.memory.lock().barrier(Barrier {
        from: line(image),
        to: Line::Signal(tag),
        first: Scope::ALL,
        second: Scope::ALL,
        memory: None,
    });
    Some(Mark { queue: ENGINE, tag }.packed())
}
