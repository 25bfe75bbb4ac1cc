//! A draw whose geometry is done, waiting for its tiles.

pub mod coarse;
pub mod events;
pub mod fill;
pub mod hidden;
pub mod lists;
pub mod op;
pub mod parts;
pub mod plan;

use crate::draw::Kept;
use crate::geometry::bin::Bins;
use crate::geometry::{Batch, GeometryCounts};
use crate::prim::{Prim, prefetch};
use ash::vk;
use machine::instrumentation::{Active, Blocks};
use machine::lost::{Blame, Place};
use plan::Plan;
use smallvec::SmallVec;
use std::sync::Arc;
use wave::{Stop, Table, Usage, Worker};

/// A draw in a subpass: geometry, and what its tiles need to know.
pub struct Item {
    pub draw: Kept,
    pub tables: SmallVec<[Table; 4]>,
    pub batch: Arc<Batch>,
    /// What geometry counted, if counters are observed.
    pub counts: Option<Arc<GeometryCounts>>,
    /// Its own lists of primitives by tile, if they are not among all draws' ([`crate::tile::item::lists`]).
    pub bins: Option<Bins>,
    /// Names the fragment job ([`wave::Dispatch::serial`]).
    pub serial: u64,
    pub view: u32,
    pub plan: Arc<Plan>,
    /// The command that drew it.
    pub place: Place,
    /// Of an instrumented fragment shader: where its blocks' metrics go, the draw's index, and what they are so far.
    pub instrumentation: Option<Box<(Active, u32, Blocks)>>,
}

impl Item {
    /// Makes an instrumented fragment shader's metrics go to `active`, as those of draw `index` of its command.
    pub fn instrument(&mut self, active: Option<&Active>, index: u32) {
        let fragment = self.plan.pipeline.fragment.as_ref().is_some_and(|p| p.profile.mark_count > 0);
        let active = active.filter(|_| fragment);
        self.instrumentation = active.map(|a| Box::new((a.clone(), index, Blocks::default())));
    }

    /// Attributes a fault in its tiles to its shader.
    pub fn blame(&self, stop: Stop) -> Blame {
        let p = &self.plan.pipeline;
        // Without a fragment shader there is none to stop.
        Blame::new(stop, "fragment", p.fragment.as_ref().unwrap_or(&p.vertex), &p.title).at(&self.place)
    }

    /// Takes what a worker counted for the fragment shader, if it ran and counters are observed.
    pub fn take_usage(&self, worker: &mut Worker) -> Option<Usage> {
        match (&self.instrumentation, &self.plan.pipeline.fragment) {
            (Some(own), Some(p)) => Some(own.2.take(worker, p, true)),
            (None, Some(p)) if !self.plan.observed => {
                if !worker.tally.is_idle() {
                    worker.tally.forget(p);
                }
                None
            }
            (None, Some(p)) if !worker.tally.is_idle() => Some(worker.tally.take(p, None)),
            _ => None,
        }
    }

    /// Tells the object what all tiles cost.
    pub fn tell_blocks(&self, rates: &counters::model::Core) {
        if let Some((active, index, blocks)) = self.instrumentation.as_deref() {
            blocks.add_to(rates, Some(active), *index, vk::ShaderStageFlags::FRAGMENT);
        }
    }
}

impl Item {
    /// Asks for what shading will want of a primitive with these [`Prim::planes`].
    #[inline(always)]
    pub(in crate::tile) fn soon(&self, planes: u32) {
        let planes = self.batch.planes.as_ptr().wrapping_add(planes as usize);
        prefetch(planes);
        prefetch(planes.wrapping_add(self.plan.varyings.saturating_sub(1)));
    }
    /// Bounds of a primitive's depth over a square of `side` pixels, as the tile holds it.
    #[inline(always)]
    pub(in crate::tile) fn depths(&self, p: &Prim, corner: [i32; 2], side: i32) -> [f32; 2] {
        // Each step rounds monotonically, so that two corners' values bound all others. One sample a pixel is at the centre.
        let inset = if self.plan.samples == 1 { 0.5 } else { 0.0 };
        let k = &p.z;
        let ends = |axis: usize, slope: f32| {
            let from = corner[axis] as f32 + inset - p.origin()[axis];
            let to = (corner[axis] + side) as f32 - inset - p.origin()[axis];
            if slope < 0.0 { [slope * to, slope * from] } else { [slope * from, slope * to] }
        };
        let (x, y) = (ends(0, k.dx), ends(1, k.dy));
        let [low, high] = [k.at + (x[0] + y[0]), k.at + (x[1] + y[1])];
        let range = self.depth_range(p);
        [self.plan.tests.bound(low, range), self.plan.tests.bound(high, range)]
    }
    /// Depth range of the viewport a primitive went through.
    #[inline]
    pub fn depth_range(&self, p: &Prim) -> [f32; 2] {
        self.plan.state.viewports.get(p.side.viewport()).map_or([0.0, 1.0], |v| [v.min_depth, v.max_depth])
    }
    /// May hold smooth lines.
    pub(in crate::tile) fn smooth(&self) -> bool {
        self.plan.state.raster.line_mode == ash::vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH
    }
}
