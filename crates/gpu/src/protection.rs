//! Protected memory (§ Protected Memory Access Rules): what commands do that a submission does not allow, told by the objects that
//! they name. What shaders do through descriptors and addresses, a sanitised device tells ([`crate::hazards`]).

use crate::command::{Command, CommandList};
use ash::vk;
use raster::draw::{Draw, What};
use raster::pass::Rendering;
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::image::Image;

/// Whether an object is protected, and whether a command writes it.
type Object = (bool, bool);

fn buffer(b: &Buffer, written: bool) -> Object {
    (b.flags.contains(vk::BufferCreateFlags::PROTECTED), written)
}

fn image(i: &Image, written: bool) -> Object {
    (i.flags.contains(vk::ImageCreateFlags::PROTECTED), written)
}

fn attachments(r: &Rendering, each: &mut dyn FnMut(Object)) {
    for (i, a) in r.attachments.iter().enumerate() {
        let used = r.subpasses.iter().any(|s| s.uses(i as u32));
        let kept = [a.store, a.stencil_store] == [vk::AttachmentStoreOp::NONE; 2];
        a.view.iter().for_each(|v| each(image(&v.image, used && !kept)));
    }
}

fn of_draw(d: &Draw, each: &mut dyn FnMut(Object)) {
    let vertices = d.vertex_buffers.iter().filter_map(|v| v.buffer.as_deref());
    let indices = d.index_buffer.iter().filter_map(|i| i.buffer.as_deref());
    vertices.chain(indices).for_each(|b| each(buffer(b, false)));
}

/// The objects that a command names.
fn objects(c: &Command, draws: &[Draw], each: &mut dyn FnMut(Object)) {
    match c {
        Command::CopyBuffer { src, dst, .. } => {
            each(buffer(src, false));
            each(buffer(dst, true));
        }
        Command::UpdateBuffer { dst, .. }
        | Command::FillBuffer { dst, .. }
        | Command::CopyQueryResults { dst, .. } => each(buffer(dst, true)),
        Command::CopyImage { src, dst, .. }
        | Command::BlitImage { src, dst, .. }
        | Command::ResolveImage { src, dst, .. } => {
            each(image(src, false));
            each(image(dst, true));
        }
        Command::CopyBufferToImage { src, dst, .. } => {
            each(buffer(src, false));
            each(image(dst, true));
        }
        Command::CopyImageToBuffer { src, dst, .. } => {
            each(image(src, false));
            each(buffer(dst, true));
        }
        Command::ClearColorImage { dst, .. } | Command::ClearDepthStencilImage { dst, .. } => {
            each(image(dst, true))
        }
        Command::Graph(d) => d.session().for_each(|b| each(buffer(b, true))),
        Command::DispatchIndirect { buffer: b, .. } | Command::BeginConditional { buffer: b, .. } => {
            each(buffer(b, false))
        }
        Command::BeginRendering(r) => attachments(r, each),
        Command::BeginFeedback { targets, .. } => {
            targets.iter().flatten().for_each(|t| each(buffer(&t.buffer, true)))
        }
        Command::Draw(i, _) => draws.get(*i as usize).iter().for_each(|d| of_draw(d, each)),
        _ => {}
    }
}

/// Whether memory says how much a command does.
fn is_indirect(c: &Command, draws: &[Draw]) -> bool {
    match c {
        Command::DispatchIndirect { .. } => true,
        Command::Draw(i, _) => {
            draws.get(*i as usize).is_some_and(|d| !matches!(d.what, What::Direct(_) | What::Mesh(_)))
        }
        _ => false,
    }
}

/// The rule that an access breaks, which reads or writes memory that is protected or not, in a submission that is or not.
pub fn rule(submission: bool, memory: bool, writes: bool) -> Option<&'static str> {
    match (submission, memory, writes) {
        (false, true, false) => Some("reads protected memory in an unprotected submission"),
        (false, true, true) => Some("writes protected memory in an unprotected submission"),
        (true, false, true) => Some("writes unprotected memory in a protected submission"),
        _ => None,
    }
}

/// What a command does that a submission, `protected` or not, does not allow.
fn broken(c: &Command, draws: &[Draw], protected: bool) -> Option<&'static str> {
    let mut found = None;
    objects(c, draws, &mut |(memory, writes)| found = found.or(rule(protected, memory, writes)));
    found.or_else(|| match c {
        _ if !protected => None,
        Command::BeginQuery { .. } => Some("performs a query in a protected submission"),
        c if is_indirect(c, draws) => Some("is indirect, in a protected submission"),
        _ => None,
    })
}

fn breaks(list: &CommandList, protected: bool) -> bool {
    list.commands.iter().any(|c| match c {
        Command::Execute(lists) => lists.iter().any(|l| breaks(l, protected)),
        c => broken(c, &list.draws, protected).is_some(),
    })
}

/// A list as a submission, `protected` or not, may execute it: without commands that break the rules, which are told with
/// the list's name, and without all of a render pass whose attachments do.
pub fn allowed(
    list: &Arc<CommandList>,
    protected: bool,
    tell: &mut dyn FnMut(&str, &'static str, &'static str),
) -> Arc<CommandList> {
    if !breaks(list, protected) {
        return list.clone();
    }
    let mut commands = Vec::new();
    let mut in_dropped = false;
    for c in &list.commands {
        if in_dropped {
            in_dropped = !matches!(c, Command::EndRendering);
            continue;
        }
        if let Some(why) = broken(c, &list.draws, protected) {
            tell(&list.name, c.call(), why);
            in_dropped = matches!(c, Command::BeginRendering(_));
            continue;
        }
        commands.push(match c {
            Command::Execute(lists) => {
                Command::Execute(lists.iter().map(|l| allowed(l, protected, tell)).collect())
            }
            c => c.clone(),
        });
    }
    Arc::new(CommandList { commands, ..CommandList::clone(list) })
}
