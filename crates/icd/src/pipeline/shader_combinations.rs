//! The pipelines that the shader objects of a draw make together.

use crate::base::debug;
use crate::pipeline::pipeline_graphics::{self, Graphics as Made};
use crate::pipeline::pipeline_layout::Layout;
use crate::pipeline::shader_object::Stage;
use crate::pipeline::{Executable, PipelineKind, Shared};
use parking_lot::Mutex;
use raster::state::FeedbackLoop;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use vk::ShaderStageFlags as Stages;

/// The stages that shader objects are bound to for draws, in the pipeline's order.
pub(crate) const STAGES: [Stages; 7] = [
    Stages::VERTEX,
    Stages::TESSELLATION_CONTROL,
    Stages::TESSELLATION_EVALUATION,
    Stages::GEOMETRY,
    Stages::TASK_EXT,
    Stages::MESH_EXT,
    Stages::FRAGMENT,
];

/// Shader objects by [`STAGES`].
pub(crate) type Shaders = [Option<Arc<Stage>>; STAGES.len()];

/// Ids by [`STAGES`], 0 for none.
type Key = [u64; STAGES.len()];

/// Pipelines of a first stage with others.
#[derive(Default)]
pub(crate) struct Combinations(Mutex<HashMap<Key, Combination>>);

struct Combination {
    pipeline: Arc<Shared>,
    /// The other stages: without one of them it can't be asked for again.
    others: Vec<Weak<Stage>>,
}

impl Combinations {
    fn keep(&self, key: Key, made: Combination) {
        let mut all = self.0.lock();
        if all.len() >= 16 && all.len().is_power_of_two() {
            all.retain(|_, c| c.others.iter().all(|o| o.strong_count() > 0));
        }
        all.insert(key, made);
    }
}

/// The place of a stage's shader; none: it is no stage of a draw.
pub(crate) fn place(all: &mut Shaders, stage: Stages) -> Option<&mut Option<Arc<Stage>>> {
    all.get_mut(STAGES.iter().position(|&s| s == stage)?)
}

pub(crate) fn combined(shaders: &Shaders) -> Option<Arc<Shared>> {
    let is_of = |s: &&Arc<Stage>, stages: Stages| stages.contains(s.made.stage);
    let bound = || shaders.iter().flatten();
    let Some(first) = bound().find(|s| is_of(s, Stages::VERTEX | Stages::MESH_EXT)) else {
        debug::log_error("a draw without a bound graphics pipeline, vertex or mesh shader");
        return None;
    };
    let key = shaders.each_ref().map(|s| s.as_ref().map_or(0, |s| s.id));
    if let Some(c) = first.combinations.0.lock().get(&key) {
        return Some(c.pipeline.clone());
    }
    let meshes = Stages::TASK_EXT | Stages::MESH_EXT;
    if bound().any(|s| is_of(&s, meshes)) && !bound().all(|s| is_of(&s, meshes | Stages::FRAGMENT)) {
        debug::log_error("a draw with mesh shaders and other stages before fragments (VUID 08693, 08696)");
        return None;
    }
    let made = Arc::new(combine(&bound().collect::<Vec<_>>())?);
    let others = bound().filter(|s| s.id != first.id).map(Arc::downgrade).collect();
    first.combinations.keep(key, Combination { pipeline: made.clone(), others });
    Some(made)
}

fn combine(bound: &[&Arc<Stage>]) -> Option<Shared> {
    let layouts: Vec<Arc<Layout>> = bound.iter().map(|s| s.layout.clone()).collect();
    let layout = Arc::new(Layout::union(&layouts));
    let placed = |s: &&Arc<Stage>| match &s.source {
        _ if s.layout.within(&layout) => Some(s.made.clone()),
        Some(source) => Some(source.compile(None, &layout, false).ok()?.0),
        None => {
            debug::log_error("a draw with binaries of several layouts (VUID 08878, 08879)");
            None
        }
    };
    let stages: Vec<Executable> = bound.iter().map(placed).collect::<Option<_>>()?;
    // Whether primitives are rasterised is dynamic, and whether fragments read attachments.
    let gpu = pipeline_graphics::assemble(&stages, true, FeedbackLoop::Dynamic).ok()?;
    let names = bound.iter().filter_map(|s| s.raw.get()).map(|&raw| debug::called(raw));
    gpu.title.call(format!("of shader objects {}", names.collect::<Vec<_>>().join(", ")));
    let kind = PipelineKind::Graphics(Box::new(Made::of_shaders(gpu)));
    Some(Shared::new(layout, Default::default(), kind, stages))
}
