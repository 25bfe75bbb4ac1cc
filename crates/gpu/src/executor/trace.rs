//! Traces of rays: work of the compute queue.

use super::Executor;
use crate::channel::WorkloadKind;
use crate::exclusive;
use crate::record;
use crate::trace::{MAX_RAYS, Refused, Trace, launch};
use ash::vk;
use counters::cost::Dealing;
use counters::{Counts, Event, Phase};
use machine::count;
use machine::facts::how;
use machine::instrumentation::Work;
use machine::lost::{Blame, Told, Why};
use shader::ir::Stage;
use wave::Usage;

/// What Vulkan calls a stage of a ray tracing pipeline.
fn flags(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Intersection => vk::ShaderStageFlags::INTERSECTION_KHR,
        Stage::AnyHit => vk::ShaderStageFlags::ANY_HIT_KHR,
        Stage::ClosestHit => vk::ShaderStageFlags::CLOSEST_HIT_KHR,
        Stage::Miss => vk::ShaderStageFlags::MISS_KHR,
        Stage::Callable => vk::ShaderStageFlags::CALLABLE_KHR,
        _ => vk::ShaderStageFlags::RAYGEN_KHR,
    }
}

impl Executor {
    pub(super) fn trace(&mut self, t: &Trace) {
        let _turn = exclusive::shared();
        let shaders = &t.pipeline.shaders;
        if self.is_waiting() && shaders.iter().any(|s| s.program.reads_clock()) {
            self.settle();
        }
        let shared = self.shared.clone();
        let begin = self.line.dispatch_begins(&shared.clock.gpu());
        let done_by = match launch(&shared, t, begin) {
            Ok(launched) => launched,
            Err(Refused::Address(at)) => return self.blame(Blame::of(wave::Fault::Address(at), t.call)),
            Err(Refused::TooMany([x, y, z])) => {
                let (place, call) = (&self.place, t.call);
                let line = format!(
                    "device fault: {place}: {call}: {x} · {y} · {z} rays, of {MAX_RAYS} at most; the device is lost"
                );
                return shared.fault(Told { line, why: Why::Other });
            }
        };
        let [x, y, z] = done_by.size;
        let total = done_by.size.iter().map(|&n| n as u64).product::<u64>();
        if total == 0 {
            return;
        }
        let name = || format!("{} {x}x{y}x{z}", t.pipeline.title.entries());
        for (i, (blocks, s)) in done_by.blocks.iter().zip(shaders).enumerate() {
            let work = || Work { label: self.place.labels().joined(), workload: name(), draw: None };
            let wanted = t.instrumentation.as_ref().filter(|_| s.program.profile.mark_count > 0);
            let active = wanted.map(|(object, result)| object.at(*result, work));
            // resultSubIndex is the shader group's: the first that has the shader.
            let group = t.pipeline.groups.iter().position(|g| g.has(i)).unwrap_or(i);
            blocks.add_to(&shared.model.core, active.as_ref(), group as u32, flags(s.program.stage));
        }
        let mut usage = Usage::default();
        done_by.usage.iter().for_each(|u| usage.add(u));
        let counted = |mut usage: Usage| {
            usage.fare_as(&Usage::default());
            let mut units = count::units(&usage);
            // Ray generation shaders are launched as a dispatch's are: warps of sixteen.
            let (warps, program) = (total.div_ceil(16), shaders.first().map(|s| &s.program));
            if let Some(program) = program {
                count::launch(&mut units, program, warps, total, total / 16);
            }
            let mut counts = Counts::default();
            counts.add_units(Phase::Compute, &units);
            counts[Event::ComputeInvocations] = total;
            counts[Event::ComputeJobs] = 1;
            counts[Event::ComputeTasks] = warps;
            counts
        };
        // Shaders and what their records name are not followed.
        let uses = self.uses(|_, to| to.anything |= how::COMPUTE_READ | how::COMPUTE_WRITE);
        let order = self.computed(
            (WorkloadKind::Trace, Dealing::default()),
            usage,
            counted,
            name,
            &t.pipeline.title,
            uses,
        );
        if let Some(to) = self.recording() {
            record::command(
                to,
                self.told("trace rays", order, &self.place.labels().joined(), &name()),
                vec![],
            );
        }
        if let Some(h) = &mut self.hazards {
            h.traced(t, &self.place);
        }
        if let Some(b) = done_by.blame {
            self.blame(b);
        }
    }
}
