//! VK_ARM_render_pass_striped: semaphores that are signalled as the stripes of a render pass are done.
//!
//! A pass's tiles are drawn at once, by all threads, so that all of its stripes are done when it ends: their semaphores
//! are signalled there, ahead of what follows in the batch. In modelled time stripes are drawn one after the other, each
//! for its share of the main phase by its area.

use crate::command::SemaphoreOp;
use machine::sync::Hub;
use machine::time::Span;
use raster::pass::Rendering;

/// A queue's stripes that are not done yet.
#[derive(Default)]
pub struct Stripes {
    /// Semaphores of the command buffer's passes that have not begun, the next one last.
    given: Vec<SemaphoreOp>,
    /// Those of the pass that has begun (or is suspended), with the stripes' pixels.
    begun: Vec<(SemaphoreOp, u64)>,
}

impl Stripes {
    /// A command buffer begins, with these semaphores in the order of its passes and of their stripes.
    pub fn list(&mut self, semaphores: &[SemaphoreOp]) {
        self.given = semaphores.iter().rev().cloned().collect();
    }

    /// What a command buffer had too many of, to be signalled with its batch: nobody shall wait for ever.
    pub fn rest(&mut self) -> Vec<SemaphoreOp> {
        std::mem::take(&mut self.given)
    }

    /// A pass begins. One that is resumed goes on with the semaphores of the one that was suspended.
    pub fn begin(&mut self, r: &Rendering) {
        if !r.resuming {
            let begun = r.stripes.iter().map_while(|pixels| Some((self.given.pop()?, *pixels)));
            self.begun.extend(begun);
        }
    }

    /// The pass that has begun has none.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// A pass, which is not suspended, has ended with this main phase.
    pub fn end(&mut self, hub: &Hub, main: Span) {
        if self.begun.is_empty() {
            return;
        }
        let begun = std::mem::take(&mut self.begun);
        hub.change(|| {
            for ((semaphore, _), end) in begun.iter().zip(ends(begun.iter().map(|b| b.1), main)) {
                semaphore.semaphore.signal(semaphore.value, end);
            }
        });
    }
}

/// When each of some stripes of so many pixels ends.
fn ends(pixels: impl Iterator<Item = u64> + Clone, main: Span) -> impl Iterator<Item = u64> {
    let total: u64 = pixels.clone().sum::<u64>().max(1);
    let ticks = main.end - main.begin;
    pixels
        .scan(0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .map(move |sum| main.begin + (ticks as u128 * sum as u128).div_ceil(total as u128) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::sync::Semaphore;

    fn rendering(stripes: &[u64], resuming: bool) -> Rendering {
        Rendering {
            area: Default::default(),
            layers: 1,
            attachments: vec![],
            subpasses: vec![],
            regions: None,
            density: None,
            stripes: stripes.to_vec(),
            resuming,
            suspending: false,
        }
    }

    #[test]
    fn stripes_end_by_their_area_in_their_order() {
        let main = Span { begin: 100, end: 200 };
        assert_eq!(ends([1, 2, 1].into_iter(), main).collect::<Vec<_>>(), [125, 175, 200]);
        // Nothing to draw: all at once.
        assert_eq!(ends([0, 0].into_iter(), main).collect::<Vec<_>>(), [100, 100]);
    }

    #[test]
    fn semaphores_go_to_the_passes_that_begin_anew() {
        let hub = Hub::default();
        let all: Vec<_> = (0..4).map(|_| Semaphore::binary()).collect();
        let op = |s: &std::sync::Arc<Semaphore>| SemaphoreOp {
            semaphore: s.clone(),
            value: 0,
            stages: Default::default(),
        };
        let values = || all.iter().map(|s| s.value()).collect::<Vec<_>>();
        let mut s = Stripes::default();
        s.list(&all.iter().map(op).collect::<Vec<_>>());
        // Suspended, and resumed by another that says its stripes again.
        s.begin(&rendering(&[1, 1], false));
        s.begin(&rendering(&[1, 1], true));
        assert_eq!(values(), [0, 0, 0, 0]);
        s.end(&hub, Span { begin: 10, end: 20 });
        assert_eq!(values(), [1, 1, 0, 0]);
        s.begin(&rendering(&[3], false));
        s.end(&hub, Span { begin: 20, end: 30 });
        assert_eq!(values(), [1, 1, 1, 0]);
        assert_eq!(all.iter().map(|s| s.time(0)).collect::<Vec<_>>(), [15, 20, 30, 0]);
        // A pass without stripes, and one semaphore too many.
        s.begin(&rendering(&[], false));
        s.end(&hub, Span::default());
        assert_eq!(s.rest().len(), 1);
        // A pass with more stripes than semaphores.
        s.begin(&rendering(&[1], false));
        s.end(&hub, Span::default());
    }
}
