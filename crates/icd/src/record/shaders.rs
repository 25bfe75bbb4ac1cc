//! Shader objects bound in the place of pipelines (§ Binding Shader Objects), and the pipelines that those of a draw make.

use crate::base::debug;
use crate::base::given::Call;
use crate::pipeline::Shared;
use crate::pipeline::shader_combinations::{STAGES, combined};
use crate::pipeline::shader_object::{Shader, Stage};
use crate::record::command_buffer::{CommandBuffer, Recorder};
use std::sync::Arc;
use vk::ShaderStageFlags as Stages;

pub(crate) fn cmd_bind_shaders_ext(b: &CommandBuffer, stages: &[Stages], shaders: &[vk::ShaderEXT]) {
    let Some(mut r) = b.recording() else { return };
    for (i, &stage) in stages.iter().enumerate() {
        let handle = shaders.get(i).copied().unwrap_or(vk::ShaderEXT::null());
        let shader = b.object::<Shader>(handle).map(|s| s.share());
        if shader.as_ref().is_some_and(|s| s.made.stage != stage) {
            debug::log_error(&format!("vkCmdBindShadersEXT: a shader of another stage for {stage:?}"));
            continue;
        }
        bind(&mut r, stage, shader);
    }
}

fn bind(r: &mut Recorder, stage: Stages, shader: Option<Arc<Stage>>) {
    if stage == Stages::COMPUTE {
        r.compute.touch();
        r.compute.pipeline = shader.and_then(|s| s.compute.clone());
        return;
    }
    let Some(place) = STAGES.iter().position(|&s| s == stage) else {
        if shader.is_some() {
            debug::log_error(&format!("vkCmdBindShadersEXT: no shaders are bound to {stage:?}"));
        }
        return;
    };
    // The state of draws with one combination is that of draws with another.
    if r.draw.shaders.iter().all(Option::is_none) {
        r.draw.touch();
    }
    r.graphics.touch();
    r.graphics.pipeline = None;
    r.draw.shaders[place] = shader;
}

/// What the bound shader objects make, which stays bound until others are. `None`, with a line in the log, if that is nothing.
pub(super) fn pipeline(r: &mut Recorder) -> Option<Arc<Shared>> {
    let found = combined(&r.draw.shaders);
    r.graphics.pipeline = found.clone();
    found
}
