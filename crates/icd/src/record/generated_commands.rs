//! VK_EXT_device_generated_commands: layouts of sequences, and sets of pipelines or shaders that sequences choose from.
//! The commands are in `record/generated.rs`; what sequences mean is [`gpu::command::generated`]'s. There is nothing to preprocess.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::limits::MAX_PUSH_CONSTANTS;
use crate::instance::limits::{MAX_BINDINGS, MAX_INDIRECT_SET, MAX_INDIRECT_STRIDE, MAX_INDIRECT_TOKENS};
use crate::instance::physical_device::PLAIN_TYPE_BITS;
use crate::pipeline::shader_object::{Shader, Stage};
use crate::pipeline::{Pipeline, Shared};
use gpu::command::generated::Token;
use parking_lot::Mutex;
use std::sync::Arc;

/// VK_INDIRECT_COMMANDS_INPUT_MODE_DXGI_INDEX_BUFFER_EXT
const DXGI: u32 = 0b10;
const PUSH_DATA: i32 = vk::IndirectCommandsTokenTypeEXT::PUSH_DATA.as_raw();
const PUSH_DATA_SEQUENCE_INDEX: i32 = vk::IndirectCommandsTokenTypeEXT::PUSH_DATA_SEQUENCE_INDEX.as_raw();

pub struct CommandsLayout {
    pub(crate) tokens: Arc<[(u32, Token)]>,
    pub(crate) stride: u32,
}

impl Object for CommandsLayout {
    type Handle = vk::IndirectCommandsLayoutEXT;
}

/// What a set has at an index.
#[derive(Clone)]
pub(crate) enum Member {
    Pipeline(Arc<Shared>),
    Shader(Arc<Stage>),
}

#[derive(Clone)]
pub(crate) struct Members(Arc<Mutex<Vec<Option<Member>>>>);

impl Members {
    pub(crate) fn get(&self, index: u32) -> Option<Member> {
        self.0.lock().get(index as usize)?.clone()
    }
}

pub struct ExecutionSet {
    pub(crate) members: Members,
}

impl Object for ExecutionSet {
    type Handle = vk::IndirectExecutionSetEXT;
}

fn token(t: In<vk::IndirectCommandsLayoutTokenEXT>) -> Answer<Token> {
    type T = vk::IndirectCommandsTokenTypeEXT;
    let nothing = || invalid("vkCreateIndirectCommandsLayoutEXT: a token without its data");
    // SAFETY (of all below): valid usage: the union has the pointer that the type asks for, null or valid.
    Ok(match t.ty.as_raw() {
        0 => {
            // SAFETY: as said above.
            let of = unsafe { t.data.p_execution_set.as_ref() }.ok_or_else(nothing)?;
            let shaders = of.ty.as_raw() == 1;
            Token::Set { indices: if shaders { of.shader_stages.as_raw().count_ones() } else { 1 } }
        }
        // Push data lies where push constants do.
        kind @ (1 | 2 | PUSH_DATA | PUSH_DATA_SEQUENCE_INDEX) => {
            // SAFETY: as said above.
            let range = unsafe { t.data.p_push_constant.as_ref() }.ok_or_else(nothing)?.update_range;
            let whole = matches!(kind, 1 | PUSH_DATA);
            let size = if whole { range.size } else { 4 };
            if range.offset.checked_add(size).is_none_or(|end| end > MAX_PUSH_CONSTANTS) {
                return Err(invalid(&format!(
                    "vkCreateIndirectCommandsLayoutEXT: {size} bytes of push constants at {}",
                    range.offset
                )));
            }
            match whole {
                true => Token::Push { offset: range.offset, size },
                false => Token::SequenceIndex { offset: range.offset },
            }
        }
        3 => {
            // SAFETY: as said above.
            let mode = unsafe { t.data.p_index_buffer.as_ref() }.ok_or_else(nothing)?.mode;
            Token::Index { dxgi: mode.as_raw() == DXGI }
        }
        4 => {
            // SAFETY: as said above.
            let binding = unsafe { t.data.p_vertex_buffer.as_ref() }.ok_or_else(nothing)?.vertex_binding_unit;
            if binding as usize >= MAX_BINDINGS {
                return Err(invalid(&format!("vkCreateIndirectCommandsLayoutEXT: vertex binding {binding}")));
            }
            Token::Vertex { binding }
        }
        5 => Token::Draw { indexed: true },
        6 => Token::Draw { indexed: false },
        7 => Token::DrawCount { indexed: true },
        8 => Token::DrawCount { indexed: false },
        9 => Token::Dispatch,
        1_000_328_000 => Token::Mesh,
        1_000_328_001 => Token::MeshCount,
        _ => {
            return Err(invalid(&format!(
                "vkCreateIndirectCommandsLayoutEXT: a token of type {:?}",
                T::from_raw(t.ty.as_raw())
            )));
        }
    })
}

fn layout(info: In<vk::IndirectCommandsLayoutCreateInfoEXT>) -> Answer<CommandsLayout> {
    if info.token_count > MAX_INDIRECT_TOKENS || info.indirect_stride > MAX_INDIRECT_STRIDE {
        return Err(invalid(&format!(
            "vkCreateIndirectCommandsLayoutEXT: {} tokens in {} bytes",
            info.token_count, info.indirect_stride
        )));
    }
    let given = info.tokens();
    let tokens: Vec<(u32, Token)> = given.iter().map(|t| Ok((t.offset, token(t)?))).collect::<Answer<_>>()?;
    let fits = |(offset, t): &(u32, Token)| {
        offset.checked_add(t.size()).is_some_and(|end| end <= info.indirect_stride)
    };
    let last = tokens.last().is_some_and(|t| t.1.acts());
    if !last || tokens.iter().filter(|t| t.1.acts()).count() != 1 || !tokens.iter().all(fits) {
        return Err(invalid(
            "vkCreateIndirectCommandsLayoutEXT: not one action at the end, or tokens beyond the stride",
        ));
    }
    Ok(CommandsLayout { tokens: tokens.into(), stride: info.indirect_stride })
}

pub(crate) fn create_indirect_commands_layout_ext(
    _: &Device,
    info: In<vk::IndirectCommandsLayoutCreateInfoEXT>,
    out: Out<vk::IndirectCommandsLayoutEXT>,
) -> vk::Result {
    created(out, layout(info))
}

pub(crate) fn destroy_indirect_commands_layout_ext(_: &Device, layout: Doomed<CommandsLayout>) {
    layout.destroy();
}

fn of_pipeline<'a>(call: impl Call<'a>, p: vk::Pipeline) -> Answer<Member> {
    Ok(Member::Pipeline(call.object::<Pipeline>(p).ok_or(vk::Result::ERROR_UNKNOWN)?.share()))
}

fn of_shader<'a>(call: impl Call<'a>, s: vk::ShaderEXT) -> Answer<Member> {
    Ok(Member::Shader(call.object::<Shader>(s).ok_or(vk::Result::ERROR_UNKNOWN)?.share()))
}

fn set(info: In<vk::IndirectExecutionSetCreateInfoEXT>) -> Answer<ExecutionSet> {
    let nothing = || invalid("vkCreateIndirectExecutionSetEXT: neither pipelines nor shaders");
    let (first, most) = match info.ty.as_raw() {
        0 => {
            // SAFETY: valid usage: the union has the pointer that the type asks for, null or valid.
            let p = unsafe { info.info.p_pipeline_info.as_ref() }.ok_or_else(nothing)?;
            (vec![of_pipeline(info, p.initial_pipeline)?], p.max_pipeline_count)
        }
        1 => {
            // SAFETY: likewise.
            let s = unsafe { info.info.p_shader_info.as_ref().map(|s| In::new(s)) }.ok_or_else(nothing)?;
            let shaders = s.initial_shaders();
            let each: Answer<Vec<Member>> = shaders.iter().map(|&s| of_shader(info, s)).collect();
            (each?, s.max_shader_count)
        }
        _ => return Err(nothing()),
    };
    if most > MAX_INDIRECT_SET || most < first.len() as u32 {
        return Err(invalid(&format!(
            "vkCreateIndirectExecutionSetEXT: {most} members; {MAX_INDIRECT_SET} at most"
        )));
    }
    let mut all: Vec<Option<Member>> = first.into_iter().map(Some).collect();
    all.resize(most as usize, None);
    Ok(ExecutionSet { members: Members(Arc::new(Mutex::new(all))) })
}

pub(crate) fn create_indirect_execution_set_ext(
    _: &Device,
    info: In<vk::IndirectExecutionSetCreateInfoEXT>,
    out: Out<vk::IndirectExecutionSetEXT>,
) -> vk::Result {
    created(out, set(info))
}

pub(crate) fn destroy_indirect_execution_set_ext(_: &Device, set: Doomed<ExecutionSet>) {
    set.destroy();
}

fn update(
    device: &Device,
    set: vk::IndirectExecutionSetEXT,
    writes: impl Iterator<Item = (u32, Answer<Member>)>,
) {
    let Some(set) = device.object::<ExecutionSet>(set) else { return };
    let mut all = set.members.0.lock();
    for (index, member) in writes {
        match (all.get_mut(index as usize), member) {
            (Some(place), Ok(member)) => *place = Some(member),
            _ => crate::base::debug::log_error(&format!("an indirect execution set has no place {index}")),
        }
    }
}

pub(crate) fn update_indirect_execution_set_pipeline_ext(
    device: &Device,
    set: vk::IndirectExecutionSetEXT,
    writes: In<[vk::WriteIndirectExecutionSetPipelineEXT]>,
) {
    update(device, set, writes.iter().map(|w| (w.index, of_pipeline(w, w.pipeline))))
}

pub(crate) fn update_indirect_execution_set_shader_ext(
    device: &Device,
    set: vk::IndirectExecutionSetEXT,
    writes: In<[vk::WriteIndirectExecutionSetShaderEXT]>,
) {
    update(device, set, writes.iter().map(|w| (w.index, of_shader(w, w.shader))))
}

/// A size of 0 says that there is nothing to preprocess.
pub(crate) fn get_generated_commands_memory_requirements_ext(
    _: &Device,
    _: In<vk::GeneratedCommandsMemoryRequirementsInfoEXT>,
    mut out: Fill<vk::MemoryRequirements2>,
) {
    out.memory_requirements =
        vk::MemoryRequirements { size: 0, alignment: 4, memory_type_bits: PLAIN_TYPE_BITS };
}
