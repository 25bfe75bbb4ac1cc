//! What each draw counted in each tile, for a capture's map of regions. Nothing is followed for the map alone, and the pass counts the same as
//! without it. How a draw's lines fare in the caches is known only for the whole draw, so each tile's part fares like the whole.

use super::events::{self, DrawCounts};
use super::op::Step;
use crate::regions::Collected;
use machine::l2;
use parking_lot::Mutex;

/// Parts that are kept; of more there is no map.
const MOST: usize = 1 << 17;

struct Part {
    op: usize,
    layer: u32,
    task: [i32; 2],
    counts: DrawCounts,
}

#[derive(Default)]
pub struct Parts(Mutex<Vec<Part>>);

impl Parts {
    /// Takes what draws counted in a tile, and adds it to what they counted before.
    pub fn take(&self, layer: u32, task: [i32; 2], own: &mut [DrawCounts], draws: &mut [DrawCounts]) {
        let mut all = self.0.lock();
        for (op, (own, draw)) in own.iter_mut().zip(draws).enumerate() {
            if own.is_empty() {
                continue;
            }
            draw.add(own);
            if all.len() <= MOST {
                all.push(Part { op, layer, task, counts: std::mem::take(own).unfollowed() });
            }
        }
    }

    /// Adds all to the map, once it is known how draws fared; false: there are too many.
    pub fn tell(self, ops: &[Step], draws: &[DrawCounts], map: &Collected, physical: u32) -> bool {
        let all = self.0.into_inner();
        if all.len() > MOST {
            return false;
        }
        for Part { op, layer, task, mut counts } in all {
            let (Some(made), Some(whole)) = (ops.get(op), draws.get(op)) else { continue };
            counts.fare_as(whole);
            if let Some((c, _)) = events::take(&mut counts, &made.op, l2::modelled()) {
                map.add(physical, layer, task, &c);
            }
        }
        true
    }
}
