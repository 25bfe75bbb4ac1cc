//! Commands that the device generates (VK_EXT_device_generated_commands).

use super::draw::{self, state_of};
use crate::base::given::{Call, In};
use crate::instance::limits::MAX_INDIRECT_SEQUENCES;
use crate::pipeline::shader_combinations::{self, Shaders};
use crate::pipeline::{PipelineKind, Shared};
use crate::record::bind::BindPoint;
use crate::record::command_buffer::{CommandBuffer, Recorder};
use crate::record::generated_commands::{CommandsLayout, ExecutionSet, Member, Members};
use gpu::command::generated::{Choose, Generated, Token, Work};
use gpu::command::{Command, Dispatch};
use machine::bindings::{HeapRange, Push};
use machine::instrumentation::Active;
use parking_lot::Mutex;
use raster::draw::{Draw, What};
use std::sync::Arc;

/// There is nothing to prepare.
pub(crate) fn cmd_preprocess_generated_commands_ext(
    _: &CommandBuffer,
    _: In<vk::GeneratedCommandsInfoEXT>,
    _: vk::CommandBuffer,
) {
}

/// What was bound when the command was recorded, for whatever a sequence chooses.
struct Chooser {
    members: Members,
    settings: crate::pipeline::draw_settings::Settings,
    shaders: Shaders,
    feedback_loop: bool,
    points: Mutex<[BindPoint; 2]>,
    push: Push,
    heaps: [HeapRange; 2],
    instrumentation: Option<Active>,
}

impl Chooser {
    fn of(r: &mut Recorder, members: Members, instrumentation: Option<Active>) -> Chooser {
        Chooser {
            members,
            settings: r.draw.set.clone(),
            shaders: r.draw.shaders.clone(),
            feedback_loop: r.draw.feedback_loop,
            points: Mutex::new([r.graphics.clone(), r.compute.clone()]),
            push: r.push,
            heaps: r.heaps,
            instrumentation,
        }
    }

    fn choose(&self, indices: &[u32], buffers: &draw::Buffers) -> Option<Work> {
        let members: Vec<Member> = indices.iter().map(|&i| self.members.get(i)).collect::<Option<_>>()?;
        let pipeline = match members.first()? {
            Member::Pipeline(p) => p.clone(),
            Member::Shader(s) if s.compute.is_some() => s.compute.clone()?,
            Member::Shader(_) => {
                let mut all = self.shaders.clone();
                for m in &members {
                    let Member::Shader(s) = m else { return None };
                    *shader_combinations::place(&mut all, s.made.stage)? = Some(s.clone());
                }
                shader_combinations::combined(&all)?
            }
        };
        self.work(&pipeline, buffers)
    }

    fn work(&self, pipeline: &Shared, buffers: &draw::Buffers) -> Option<Work> {
        let instrumentation = self.instrumentation.clone().or_else(|| pipeline.measured.clone());
        let mut points = self.points.lock();
        let [graphics, compute] = &mut *points;
        match &pipeline.kind {
            // No layout of indirect commands has their stages.
            PipelineKind::RayTracing(_) | PipelineKind::DataGraph(_) => None,
            PipelineKind::Compute(shader) => {
                compute.touch();
                Some(Work::Dispatch(Box::new(Dispatch {
                    pipeline: shader.clone(),
                    bindings: compute.bindings(pipeline, &self.push, self.heaps),
                    base: [0; 3],
                    instrumentation,
                    dealing: Default::default(),
                })))
            }
            PipelineKind::Graphics(g) => {
                graphics.touch();
                let made = g.pipeline.clone()?;
                Some(Work::Draw(Box::new(Draw {
                    feedback: made.feedback.of_draw(self.feedback_loop),
                    pipeline: made,
                    state: Arc::new(state_of(g, &self.settings)),
                    bindings: graphics.bindings(pipeline, &self.push, self.heaps),
                    vertex_buffers: buffers.0.clone(),
                    index_buffer: buffers.1.clone(),
                    what: What::Direct(Default::default()),
                    instrumentation,
                })))
            }
        }
    }
}

pub(crate) fn cmd_execute_generated_commands_ext(
    b: &CommandBuffer,
    _preprocessed: vk::Bool32,
    info: In<vk::GeneratedCommandsInfoEXT>,
) {
    let i = info;
    let (Some(layout), Some(mut r)) = (b.object::<CommandsLayout>(i.indirect_commands_layout), b.recording())
    else {
        return;
    };
    let chooses = layout.tokens.iter().any(|t| matches!(t.1, Token::Set { .. }));
    let set = match i.indirect_execution_set == vk::IndirectExecutionSetEXT::null() {
        true => None,
        false => b.object::<ExecutionSet>(i.indirect_execution_set),
    };
    let (work, choose): (_, Option<Arc<Choose>>) = match (chooses, set) {
        (false, _) => {
            let dispatches = layout.tokens.iter().any(|t| t.1 == Token::Dispatch);
            let work = match dispatches {
                true => super::dispatch::prepare(&mut r, [0; 3]).map(Work::Dispatch),
                false => {
                    draw::prepare(&mut r, What::Direct(Default::default())).map(|d| Work::Draw(Box::new(d)))
                }
            };
            if work.is_none() {
                return;
            }
            (work, None)
        }
        (true, Some(set)) => {
            let instrumentation = r.instrumented();
            let buffers = r.draw.all_buffers();
            let chooser = Chooser::of(&mut r, set.members.clone(), instrumentation);
            (None, Some(Arc::new(move |indices: &[u32]| chooser.choose(indices, &buffers))))
        }
        (true, None) => {
            return crate::base::debug::log_error(
                "vkCmdExecuteGeneratedCommandsEXT: no indirect execution set",
            );
        }
    };
    let generated = Generated {
        tokens: layout.tokens.clone(),
        stride: layout.stride,
        address: i.indirect_address,
        size: i.indirect_address_size,
        most: i.max_sequence_count.min(MAX_INDIRECT_SEQUENCES),
        count: i.sequence_count_address,
        most_draws: i.max_draw_count,
        work,
        choose,
    };
    r.push(Command::Generated(Box::new(generated)));
}
