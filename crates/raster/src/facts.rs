//! What a capture says of a pass and its draws beside counters, for `tuff advise` (docs/capture.md).

use crate::draw::{Call, Draw, What};
use crate::pass::{self, Rendering};
use crate::state::VertexAttribute;
use ash::vk;
use machine::facts::{Finder, ProgramFact, TextureFact, Uses, how, image, program, textures};
use rustc_hash::FxHashSet;
use serde::Serialize;
use shader::ir::Input;
use std::hash::Hasher;
use texel::memory::sparse::resident;

/// Of a captured pass.
#[derive(Clone, Default, Serialize)]
pub struct PassFacts {
    /// Pixels of the render area.
    pub area: [u32; 2],
    pub layers: u32,
    pub attachments: Vec<AttachmentFact>,
    #[serde(skip)]
    pub uses: Uses,
}

#[derive(Clone, Serialize)]
pub struct AttachmentFact {
    /// `None`: it has no image.
    pub image: Option<u32>,
    pub role: &'static str,
    pub format: &'static str,
    /// Bytes of a pixel, all samples.
    pub bytes: u32,
    pub samples: u32,
    pub load: &'static str,
    pub store: &'static str,
    pub stencil_load: &'static str,
    pub stencil_store: &'static str,
    /// vkCmdClearAttachments clears all of it before anything is drawn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
    /// It is resolved to another attachment.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resolved: bool,
    /// Fragments read it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub input: bool,
}

fn load(op: vk::AttachmentLoadOp) -> &'static str {
    match op {
        vk::AttachmentLoadOp::LOAD => "load",
        vk::AttachmentLoadOp::CLEAR => "clear",
        vk::AttachmentLoadOp::DONT_CARE => "dont_care",
        _ => "none",
    }
}

fn store(op: vk::AttachmentStoreOp) -> &'static str {
    match op {
        vk::AttachmentStoreOp::STORE => "store",
        vk::AttachmentStoreOp::DONT_CARE => "dont_care",
        _ => "none",
    }
}

impl PassFacts {
    pub fn new(f: Finder, r: &Rendering) -> PassFacts {
        let mut facts = PassFacts {
            area: [(r.area.x1 - r.area.x0).max(0) as u32, (r.area.y1 - r.area.y0).max(0) as u32],
            layers: pass::layers(&r.subpasses, r.layers),
            ..PassFacts::default()
        };
        for (i, a) in r.attachments.iter().enumerate() {
            let i = i as u32;
            let is = |list: &[Option<u32>]| list.contains(&Some(i));
            let mut colour = false;
            let (mut depth, mut input, mut resolved, mut resolves) = (false, false, false, false);
            for s in &r.subpasses {
                colour |= is(&s.colors);
                depth |= s.depth == Some(i) || s.stencil == Some(i);
                input |= is(&s.inputs);
                resolves |= s.resolves.iter().flatten().any(|(to, _)| *to == i)
                    || [&s.depth_resolve, &s.stencil_resolve].into_iter().flatten().any(|(to, _)| *to == i);
                resolved |= s.colors.iter().zip(&s.resolves).any(|(c, to)| *c == Some(i) && to.is_some())
                    || (s.depth == Some(i) && s.depth_resolve.is_some());
            }
            let role = match (colour, depth, resolves, input) {
                (true, ..) => "colour",
                (_, true, ..) => "depth",
                (_, _, true, _) => "resolve",
                (.., true) => "input",
                _ => continue,
            };
            let Some(v) = &a.view else { continue };
            let stencil = v.image.format.has_stencil() && !depth_only(v.image.format);
            facts.attachments.push(AttachmentFact {
                image: Some(image(f.report, &v.image)),
                role,
                format: v.image.format.name,
                bytes: v.image.format.block_bytes * v.image.samples,
                samples: v.image.samples,
                load: load(if resolves && !colour && !depth {
                    vk::AttachmentLoadOp::DONT_CARE
                } else {
                    a.load
                }),
                store: store(a.store),
                stencil_load: if stencil { load(a.stencil_load) } else { "none" },
                stencil_store: if stencil { store(a.stencil_store) } else { "none" },
                cleared: false,
                resolved,
                input,
            });
            let stencil_op = |is: bool| stencil && is;
            let loaded = a.load == vk::AttachmentLoadOp::LOAD && (colour || depth || input)
                || stencil_op(a.stencil_load == vk::AttachmentLoadOp::LOAD);
            let stored = a.store == vk::AttachmentStoreOp::STORE
                || stencil_op(a.stencil_store == vk::AttachmentStoreOp::STORE);
            facts.uses.image(f, &v.image, if loaded { how::LOADED } else { how::UNLOADED });
            facts.uses.image(f, &v.image, if stored { how::STORED } else { how::UNSTORED });
        }
        facts
    }

    /// Attachments are cleared; `first`: before anything was drawn.
    pub fn clears(
        &mut self,
        r: &Rendering,
        subpass: usize,
        all: &[vk::ClearAttachment],
        rects: &[vk::ClearRect],
    ) {
        let whole = |c: &vk::ClearRect| {
            let (o, e) = (c.rect.offset, c.rect.extent);
            o.x <= r.area.x0
                && o.y <= r.area.y0
                && o.x + e.width as i32 >= r.area.x1
                && o.y + e.height as i32 >= r.area.y1
        };
        let Some(sub) = r.subpasses.get(subpass).filter(|_| rects.iter().any(whole)) else { return };
        for c in all {
            let at = match c.aspect_mask.contains(vk::ImageAspectFlags::COLOR) {
                true => sub.colors.get(c.color_attachment as usize).copied().flatten(),
                false => sub.depth,
            };
            let view = at.and_then(|a| r.attachments.get(a as usize)?.view.as_ref());
            let number = view.and_then(|v| v.image.number.get().copied());
            self.attachments
                .iter_mut()
                .filter(|a| number.is_some() && a.image == number)
                .for_each(|a| a.cleared = true);
        }
    }
}

/// Without a stencil aspect.
fn depth_only(f: &texel::format::FormatInfo) -> bool {
    !f.has_stencil()
}

/// Of a captured draw.
#[derive(Clone, Serialize)]
pub struct DrawFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    pub topology: String,
    pub indexed: bool,
    pub vertices: VerticesFact,
    pub streams: Vec<StreamFact>,
    pub attributes: Vec<AttributeFact>,
    pub cull: String,
    pub depth_test: bool,
    pub depth_write: bool,
    pub depth_compare: String,
    pub stencil: bool,
    pub alpha_to_coverage: bool,
    pub samples: u32,
    pub per_sample: bool,
    /// Some colour is blended with what is there.
    pub blends: bool,
    /// Images of which it replaces all channels, where it covers them.
    pub replaces: Vec<u32>,
    pub vertex: ProgramFact,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<ProgramFact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<TextureFact>,
}

/// Vertices that a draw refers to.
#[derive(Clone, Default, Serialize)]
pub struct VerticesFact {
    /// References of one instance.
    pub references: u64,
    pub instances: u64,
    /// Different vertices, and how many numbers there are from the first to the last.
    pub distinct: u64,
    pub span: u64,
    /// Different vertices by what their attributes hold.
    pub different: u64,
}

/// A binding of vertices.
#[derive(Clone, Serialize)]
pub struct StreamFact {
    pub binding: u32,
    pub stride: u32,
    pub per_instance: bool,
}

#[derive(Clone, Serialize)]
pub struct AttributeFact {
    pub location: u32,
    pub binding: u32,
    pub format: &'static str,
    pub offset: u32,
    pub bytes: u32,
    /// The shader reads it.
    pub read: bool,
    /// Positions depend on it.
    pub position: bool,
}

/// References of a draw that are looked at: of one with more its vertices are not known.
const MOST: u64 = 1 << 22;

impl DrawFacts {
    /// `targets`: by index of the subpass's colours, the image.
    pub fn new(f: Finder, d: &Draw, targets: &[Option<u32>]) -> DrawFacts {
        let (s, p) = (&d.state, &d.pipeline);
        let first = |a: &VertexAttribute| a.location as usize * 4;
        let slot = |i: &Input| if let Input::Varying(s) = i { Some(*s as usize) } else { None };
        let reads = |a: &VertexAttribute| {
            let mut slots = p.vertex.inputs.iter().filter_map(|(i, _)| slot(i));
            slots.any(|s| (first(a)..first(a) + 4).contains(&s))
        };
        let position = |a: &VertexAttribute| match &p.vertex.profile.halves {
            Some(h) => h.position.attributes.contains(&(a.location as u16)),
            None => reads(a),
        };
        let attributes = s.input.attributes.iter().map(|a| AttributeFact {
            location: a.location,
            binding: a.binding,
            format: a.format.name,
            offset: a.offset,
            bytes: a.format.block_bytes,
            read: reads(a),
            position: position(a),
        });
        let attributes: Vec<_> = attributes.collect();
        let used = |b: u32| attributes.iter().any(|a| a.binding == b && a.read);
        let streams = s.input.bindings.iter().filter(|b| used(b.binding));
        let streams = streams.map(|b| StreamFact {
            binding: b.binding,
            stride: b.stride,
            per_instance: b.divisor.is_some(),
        });
        let replaces = s.blend.attachments.iter().zip(targets);
        let replaces = replaces.filter(|(b, _)| !b.enable && b.write == vk::ColorComponentFlags::RGBA);
        let mut found = vec![];
        let stages = p.programs().map(|(_, p)| p).chain(&p.fragment).chain(&p.task);
        for program in stages {
            for t in textures(f.report, program, &d.bindings) {
                if !found.contains(&t) {
                    found.push(t);
                }
            }
        }
        DrawFacts {
            pipeline: p.title.name(),
            topology: format!("{:?}", s.topology),
            indexed: d.what.call().contains("Indexed"),
            vertices: vertices(d),
            streams: streams.collect(),
            attributes,
            cull: format!("{:?}", s.raster.cull),
            depth_test: s.depth.test,
            depth_write: s.depth.test && s.depth.write,
            depth_compare: format!("{:?}", s.depth.compare),
            stencil: s.stencil.is_some(),
            alpha_to_coverage: s.samples.alpha_to_coverage,
            samples: s.samples.count,
            per_sample: s.samples.min_shading.is_some()
                || p.fragment.as_ref().is_some_and(|f| f.interface.per_sample),
            blends: s.blend.logic_op.is_some()
                || s.blend.attachments.iter().any(|b| b.enable && !b.write.is_empty()),
            replaces: replaces.filter_map(|(_, to)| *to).collect(),
            vertex: program(&p.vertex),
            fragment: p.fragment.as_ref().map(|f| program(f)),
            textures: found,
        }
    }
}

/// The index at a place of an indexed draw's list; `None`: it restarts primitives, or is outside.
fn index(d: &Draw, at: u64) -> Option<u32> {
    let b = d.index_buffer.as_ref()?;
    let (p, room) = b.buffer.as_ref()?.range(b.offset, b.size);
    let bytes = match b.ty {
        vk::IndexType::UINT8_EXT => 1,
        vk::IndexType::UINT16 => 2,
        _ => 4,
    };
    let from = at.checked_mul(bytes).filter(|from| from + bytes <= room)?;
    let p = p.wrapping_add(from as usize);
    if !resident(p) {
        return Some(0);
    }
    // SAFETY: in the buffer, as just checked.
    let i = unsafe {
        match bytes {
            1 => p.read() as u32,
            2 => p.cast::<u16>().read_unaligned() as u32,
            _ => p.cast::<u32>().read_unaligned(),
        }
    };
    (!d.state.primitive_restart || i != b.restart).then_some(i)
}

/// A hash of what a vertex's attributes hold that come with each vertex.
fn content(d: &Draw, vertex: u32) -> u64 {
    let mut hash = rustc_hash::FxHasher::default();
    for a in &d.state.input.attributes {
        let Some(b) = d.state.input.bindings.iter().find(|b| b.binding == a.binding && b.divisor.is_none())
        else {
            continue;
        };
        let Some(v) = d.vertex_buffers.get(a.binding as usize) else { continue };
        let Some(buffer) = &v.buffer else { continue };
        let (p, room) = buffer.range(v.offset, v.size);
        let from = vertex as u64 * b.stride as u64 + a.offset as u64;
        let bytes = a.format.block_bytes as u64;
        if from + bytes > room || !resident(p.wrapping_add(from as usize)) {
            continue;
        }
        // SAFETY: in the buffer, as just checked.
        let bytes = unsafe { std::slice::from_raw_parts(p.add(from as usize), bytes as usize) };
        hash.write(bytes);
    }
    hash.finish()
}

fn vertices(d: &Draw) -> VerticesFact {
    let calls: Vec<Call> = (0..d.what.count().min(4096)).filter_map(|i| d.what.nth(i)).collect();
    let mut fact = VerticesFact::default();
    let fetches = d.state.input.bindings.iter().any(|b| b.divisor.is_none());
    let (mut distinct, mut different) = (FxHashSet::default(), FxHashSet::default());
    let (mut least, mut most) = (u32::MAX, 0);
    for c in &calls {
        fact.references += c.count as u64;
        fact.instances = fact.instances.max(c.instances as u64);
        if fact.references > MOST {
            continue;
        }
        for i in 0..c.count as u64 {
            let vertex = match c.indexed {
                false => c.first.wrapping_add(i as u32),
                true => match index(d, c.first as u64 + i) {
                    Some(at) => at.wrapping_add(c.vertex_offset as u32),
                    None => continue,
                },
            };
            if distinct.insert(vertex) {
                (least, most) = (least.min(vertex), most.max(vertex));
                if fetches {
                    different.insert(content(d, vertex));
                }
            }
        }
    }
    if fact.references > MOST {
        return fact;
    }
    fact.distinct = distinct.len() as u64;
    fact.span = if distinct.is_empty() { 0 } else { (most - least) as u64 + 1 };
    fact.different = if fetches { different.len() as u64 } else { fact.distinct };
    fact
}

/// What a draw reads and writes, attachments apart.
pub fn uses(f: Finder, d: &Draw, to: &mut Uses) {
    let p = &d.pipeline;
    for program in p.programs().map(|(_, p)| p).chain(&p.task) {
        let writes = if program.interface.writes_memory { how::VERTEX_WRITE } else { 0 };
        to.shader(f, program, &d.bindings, how::VERTEX_READ, writes);
    }
    if let Some(program) = &p.fragment {
        let writes = if program.interface.writes_memory { how::FRAGMENT_WRITE } else { 0 };
        to.shader(f, program, &d.bindings, how::FRAGMENT_READ, writes);
    }
    let used = |b: usize| d.state.input.bindings.iter().any(|i| i.binding as usize == b);
    for (_, v) in d.vertex_buffers.iter().enumerate().filter(|(i, _)| used(*i)) {
        if let Some(b) = &v.buffer {
            let (p, n) = b.range(v.offset, v.size);
            to.bytes(f, p as u64, n, how::VERTEX_READ);
        }
    }
    if let Some(i) = d.index_buffer.as_ref().filter(|_| d.what.call().contains("Indexed"))
        && let Some(b) = &i.buffer
    {
        let (p, n) = b.range(i.offset, i.size);
        to.bytes(f, p as u64, n, how::VERTEX_READ);
    }
    let counts = match &d.what {
        What::Indirect { count, .. } | What::MeshIndirect { count, .. } => count.as_ref(),
        _ => None,
    };
    if let Some((b, _)) = counts {
        to.buffer(f, b, how::VERTEX_READ);
    }
    match &d.what {
        What::Indirect { buffer, .. }
        | What::MeshIndirect { buffer, .. }
        | What::ByteCount { buffer, .. } => to.buffer(f, buffer, how::VERTEX_READ),
        What::Direct(_) | What::Mesh(_) => {}
    }
}
