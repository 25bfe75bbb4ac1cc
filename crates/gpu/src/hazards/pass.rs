//! A render pass instance: its accesses are told when it has ended, for its fragments run then.

use super::attachments::Target;
use super::{Tracker, Use, draws, fences, in_order, ranges, stage_of, tell};
use crate::ordering::{Dependencies, Masks, Pass, SubpassDependency};
use ash::vk;
use machine::footprint::{self, Touched};
use machine::lost::Place;
use raster::draw::Draw;
use raster::pass::Rendering;
use sanitize::Kind;
use sanitize::hazards::{Access, Barrier, Contents, Fences, Line, Scope, What, Who, access, stage};
use shader::bytecode::Program;
use shader::ir::Dim;
use std::ops::Range;
use std::sync::Arc;
use vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageAspectFlags as Aspects};

/// A draw of a pass.
struct Drew {
    who: Arc<Who>,
    /// Barriers within the subpass before it.
    segment: u32,
    inputs: Vec<(Use, Vec<Range<u64>>)>,
    /// What shaders before the rasteriser touched.
    touched: Vec<(u64, Fences, Touched)>,
    fragment: Option<Arc<Program>>,
    /// Its fragments may read attachments.
    feedback: bool,
    reads_inputs: bool,
    /// A bit for each colour attachment.
    writes_colors: u32,
    writes_depth: bool,
    writes_stencil: bool,
}

enum Item {
    Draw(Drew),
    Barrier(Dependencies, Place),
    /// Attachments are cleared; whole: as far as the pass draws.
    Clear {
        colors: Vec<u32>,
        depth: bool,
        stencil: bool,
        whole: bool,
    },
}

/// What a pass under way has done so far.
pub struct Journal {
    id: u64,
    pub(super) rendering: Arc<Rendering>,
    pub(super) recorded: Arc<Pass>,
    begin: Place,
    segment: u32,
    /// By subpass.
    items: Vec<Vec<Item>>,
}

impl Journal {
    fn now(&mut self) -> &mut Vec<Item> {
        let last = self.items.len() - 1;
        &mut self.items[last]
    }
    pub fn barrier(&mut self, d: &Dependencies, place: &Place) {
        self.segment += 1;
        self.now().push(Item::Barrier(d.clone(), place.clone()));
    }
}

impl Tracker {
    pub fn pass_begins(&mut self, rendering: &Arc<Rendering>, place: &Place) {
        let recorded = self.next.take().unwrap_or_default();
        self.pass = Some(Journal {
            id: self.hazards().tag(),
            rendering: rendering.clone(),
            recorded,
            begin: place.clone(),
            segment: 0,
            items: vec![vec![]],
        });
    }

    pub fn next_subpass(&mut self) {
        if let Some(p) = &mut self.pass {
            p.items.push(vec![]);
            p.segment += 1;
        }
    }

    /// A draw's geometry has run.
    pub fn drew(&mut self, d: &Draw, place: &Place) {
        let touched = footprint::take();
        let who = self.who(place, format!("pipeline {}", d.pipeline.title.steady()));
        let Some(pass) = &mut self.pass else { return };
        let p = &d.pipeline;
        let programs: Vec<&Arc<Program>> = [Some(&p.vertex), p.geometry.as_ref(), p.task.as_ref()]
            .into_iter()
            .flatten()
            .chain(p.tessellation.iter().flatten())
            .collect();
        let by = |t: Touched| {
            let program = programs.iter().find(|p| t.is_by(p))?;
            Some((stage_of(program.stage), fences(program), t))
        };
        let touched = in_order(touched).into_iter().filter_map(by).collect();
        let drew = Drew {
            who,
            segment: pass.segment,
            inputs: draws::inputs(d),
            touched,
            fragment: p.fragment.clone(),
            feedback: d.feedback,
            reads_inputs: p.fragment.iter().any(|p| p.images.iter().any(|i| i.dim == Dim::SubpassData)),
            writes_colors: written(d),
            writes_depth: d.state.depth.write,
            writes_stencil: d.state.stencil.is_some_and(|s| s.iter().any(|f| f.write_mask != 0)),
        };
        pass.now().push(Item::Draw(drew));
    }

    pub fn cleared(&mut self, attachments: &[vk::ClearAttachment], rects: &[vk::ClearRect]) {
        let Some(pass) = &mut self.pass else { return };
        let (a, layers) = (pass.rendering.area, pass.rendering.layers);
        let Some(sub) = pass.rendering.subpasses.get(pass.items.len() - 1) else { return };
        let covers = |r: &vk::ClearRect| {
            let (x, y) = (r.rect.offset.x, r.rect.offset.y);
            let end = |at: i32, n: u32| at.saturating_add_unsigned(n);
            x <= a.x0
                && y <= a.y0
                && end(x, r.rect.extent.width) >= a.x1
                && end(y, r.rect.extent.height) >= a.y1
                && r.base_array_layer == 0
                && (r.layer_count >= layers || sub.view_mask != 0)
        };
        let has = |of: Aspects| attachments.iter().any(|c| c.aspect_mask.intersects(of));
        let colors = attachments.iter().filter(|c| c.aspect_mask.contains(Aspects::COLOR));
        let colors = colors.filter_map(|c| *sub.colors.get(c.color_attachment as usize)?).collect();
        let item = Item::Clear {
            colors,
            depth: has(Aspects::DEPTH),
            stencil: has(Aspects::STENCIL),
            whole: rects.iter().any(covers),
        };
        pass.now().push(item);
    }

    /// All of the pass has run.
    pub fn pass_ended(&mut self, name: &str, place: &Place) {
        let fragments = in_order(footprint::take());
        let Some(journal) = self.pass.take() else { return };
        let id = journal.id;
        self.told(journal, fragments, name, place);
        self.hazards().memory.lock().pass_ended(id);
    }

    fn told(&mut self, mut j: Journal, fragments: Vec<Touched>, name: &str, place: &Place) {
        let targets = self.targets(&j);
        let subpasses = j.rendering.subpasses.len();
        let line = |s: usize| Line::Subpass { queue: self.queue, pass: j.id, index: s as u32 };
        let who = |at: &Place, part: &str| {
            let part = if subpasses > 1 {
                format!("{part} of a pass of {name}")
            } else {
                format!("{part} of pass {name}")
            };
            self.who(at, part)
        };
        let mut items = std::mem::take(&mut j.items);
        // Draws of no subpass draw nothing.
        items.resize_with(subpasses, Vec::new);
        let fragments = assign(&items, fragments);
        for (s, own) in items.iter().enumerate() {
            let here = line(s);
            self.enters(&j, &targets, s, &who);
            // Load operations.
            for t in targets.iter().filter(|t| t.used.start == s) {
                self.loads(&j, t, here, &who);
            }
            let mut began = false;
            for (n, item) in own.iter().enumerate() {
                match item {
                    Item::Barrier(d, at) => self.depend(d, here, here, true, at),
                    Item::Clear { .. } => self.wasted(&j, &targets, s, &own[..n], item, &who),
                    Item::Draw(d) => {
                        if !std::mem::replace(&mut began, true) {
                            self.draws_to(&j, &targets, s, own, &who);
                        }
                        let by = fragments.iter().filter(|f| f.0 == [s, n]).map(|f| &f.1);
                        self.draw_accesses(&j, d, here, by.collect());
                    }
                }
            }
            for t in targets.iter().filter(|t| t.used.end == s + 1) {
                self.stores(t, here, &who(place, "store operation"));
            }
        }
        // What follows the pass comes after all subpasses, also where the dependency is of an earlier one.
        let end = who(place, "the end");
        (0..subpasses).for_each(|s| self.leaves(&j, &targets, s, self.line(), &end));
    }

    /// Dependencies into a subpass, and the transitions that come with them.
    fn enters(&self, j: &Journal, targets: &[Target], s: usize, who: &dyn Fn(&Place, &str) -> Arc<Who>) {
        let line = |s: u32| Line::Subpass { queue: self.queue, pass: j.id, index: s };
        let here = line(s as u32);
        let into = j.recorded.dependencies.iter().filter(|d| d.dst == Some(s as u32) && d.src != d.dst);
        let mut scopes: Option<[Scope; 2]> = None;
        for d in into {
            let [first, second] = d.masks.scopes();
            let from = d.src.map_or(self.line(), line);
            self.order(Barrier { from, to: here, first, second, memory: None });
            if d.src.is_none() {
                scopes = Some(scopes.map_or([first, second], |o| [o[0].and(first), o[1].and(second)]));
            }
        }
        if j.recorded.attachments.is_empty() {
            return;
        }
        self.changes_between(j, targets, s, &who(&j.begin, "a layout transition between subpasses"));
        // § Subpass dependencies: an implicit one, where the program gives none.
        let [first, second] = scopes.unwrap_or_else(|| implicit().scopes());
        for t in targets.iter().filter(|t| t.used.start == s) {
            let Some(l) = t.layouts else { continue };
            let uses = j.recorded.subpasses.get(s);
            let layout = uses.and_then(|u| u.iter().find(|u| u.0 == t.index));
            let to = layout.map_or(l.last, |u| u.1[(t.aspect == Aspects::STENCIL) as usize]);
            if l.initial == to {
                continue;
            }
            let bytes = self.viewed(j, t);
            let memory = Some(bytes.clone().into());
            let b = Barrier { from: self.line(), to: here, first, second, memory };
            self.transition(&who(&j.begin, "the initial layout transition"), &b, &bytes, l.initial, to, true);
        }
    }

    /// Layouts that differ between the subpass and the last one before it that used the attachment.
    fn changes_between(&self, j: &Journal, targets: &[Target], s: usize, who: &Arc<Who>) {
        let has = |t: &&Target| j.rendering.subpasses.get(s).is_some_and(|sub| t.is_in(sub));
        for t in targets.iter().filter(|t| t.used.start < s && t.used.contains(&s)).filter(has) {
            let k = (t.aspect == Aspects::STENCIL) as usize;
            let layout = |s: usize| {
                let uses = j.recorded.subpasses.get(s)?;
                uses.iter().find(|u| u.0 == t.index).map(|u| u.1[k])
            };
            let Some(to) = layout(s) else { continue };
            let Some((before, from)) = (0..s).rev().find_map(|b| Some((b, layout(b)?))) else { continue };
            if from == to {
                continue;
            }
            let line = |s: usize| Line::Subpass { queue: self.queue, pass: j.id, index: s as u32 };
            let of = |d: &&SubpassDependency| d.src == Some(before as u32) && d.dst == Some(s as u32);
            let scopes = j.recorded.dependencies.iter().filter(of).map(|d| d.masks.scopes());
            // A chain over subpasses between them orders it too.
            let Some([first, second]) = scopes.reduce(|a, b| [a[0].and(b[0]), a[1].and(b[1])]) else {
                continue;
            };
            let bytes = self.viewed(j, t);
            let memory = Some(bytes.clone().into());
            let b = Barrier { from: line(before), to: line(s), first, second, memory };
            self.transition(who, &b, &bytes, from, to, true);
        }
    }

    /// What follows a subpass, and the transitions at its end.
    fn leaves(&self, j: &Journal, targets: &[Target], s: usize, queue: Line, who: &Arc<Who>) {
        let here = Line::Subpass { queue: self.queue, pass: j.id, index: s as u32 };
        let out = j.recorded.dependencies.iter().filter(|d| d.src == Some(s as u32) && d.dst.is_none());
        let mut scopes: Option<[Scope; 2]> = None;
        for d in out {
            let [first, second] = d.masks.scopes();
            self.order(Barrier { from: here, to: queue, first, second, memory: None });
            scopes = Some(scopes.map_or([first, second], |o| [o[0].and(first), o[1].and(second)]));
        }
        let [first, second] = scopes.unwrap_or_else(|| {
            let m = implicit();
            let [from, to] = m.accesses;
            let stages = [vk::PipelineStageFlags2::ALL_COMMANDS, vk::PipelineStageFlags2::NONE];
            Masks { stages, accesses: [to, from] }.scopes()
        });
        for t in targets.iter().filter(|t| t.used.end == s + 1) {
            let Some(l) = t.layouts else { continue };
            let uses = j.recorded.subpasses.get(s);
            let layout = uses.and_then(|u| u.iter().find(|u| u.0 == t.index));
            let from = layout.map_or(l.initial, |u| u.1[(t.aspect == Aspects::STENCIL) as usize]);
            if from == l.last {
                continue;
            }
            let bytes = self.viewed(j, t);
            let b = Barrier { from: here, to: queue, first, second, memory: Some(bytes.clone().into()) };
            let who = Arc::new(Who {
                tag: who.tag,
                place: who.place.clone(),
                part: who.part.replacen("the end", "the final layout transition", 1),
            });
            self.transition(&who, &b, &bytes, from, l.last, true);
        }
    }

    fn attached(&self, who: &Arc<Who>, line: Line, of: Use) -> Access {
        Access { attachment: true, ..self.access(who, line, of) }
    }

    fn loads(&self, j: &Journal, t: &Target, line: Line, who: &dyn Fn(&Place, &str) -> Arc<Who>) {
        let (stage, read, write) = match t.depth {
            false => (stage::COLOR, access::COLOR_READ, access::COLOR_WRITE),
            true => (stage::EARLY, access::DEPTH_READ, access::DEPTH_WRITE),
        };
        let of = match t.load {
            Load::LOAD => Use::read(stage, read),
            Load::CLEAR => Use::write(stage, write),
            Load::DONT_CARE => Use { contents: Contents::Discarded, ..Use::write(stage, write) },
            _ => return,
        };
        let new = self.attached(&who(&j.begin, "load operation"), line, of);
        match t.load {
            Load::LOAD if t.known => self.tell_discarded(&new, &t.bytes, true),
            Load::LOAD => {}
            _ => self.tell_unread(&new, &t.bytes),
        }
        if t.load == Load::LOAD && t.transient {
            self.tell_transient(&new, t, "VK_ATTACHMENT_LOAD_OP_LOAD reads");
        }
        let found = self.touch(&new, &t.bytes);
        self.tell(&new, &found, false);
    }

    fn stores(&self, t: &Target, line: Line, who: &Arc<Who>) {
        let (stage, write) = match t.depth {
            false => (stage::COLOR, access::COLOR_WRITE),
            true => (stage::LATE, access::DEPTH_WRITE),
        };
        let contents = match t.store {
            Store::STORE => Contents::Stored,
            Store::DONT_CARE => Contents::Discarded,
            _ => return,
        };
        // What nothing writes is stored by nobody.
        if t.read_only && t.store == Store::STORE {
            return;
        }
        let new = self.attached(who, line, Use { contents, ..Use::write(stage, write) });
        if t.store == Store::STORE && t.transient {
            self.tell_transient(&new, t, "VK_ATTACHMENT_STORE_OP_STORE writes");
        }
        let found = self.touch(&new, &t.bytes);
        // What this pass does before is told of where it is done: by draws of its subpasses, and by shaders that read the attachment.
        let pass = |l: Line| matches!((l, line), (Line::Subpass { pass: a, .. }, Line::Subpass { pass: b, .. }) if a == b);
        let others: Vec<_> = found.into_iter().filter(|t| !pass(t.conflict.earlier.line)).collect();
        self.tell(&new, &others, false);
    }

    fn tell_transient(&self, new: &Access, t: &Target, what: &str) {
        let bytes = ranges::count(&t.bytes);
        let first = t.bytes.first().map_or(0, |r| r.start);
        let (resource, ..) = tell::resource(self.hazards(), &*self.shared.report, first);
        let message =
            format!("{what} {bytes} bytes of a transient attachment, which need not leave the tile");
        tell::tile(Kind::NeedlessTraffic, message, new, None, resource, bytes);
    }

    /// The attachments that a subpass's draws write.
    fn draws_to(
        &self,
        j: &Journal,
        targets: &[Target],
        s: usize,
        items: &[Item],
        who: &dyn Fn(&Place, &str) -> Arc<Who>,
    ) {
        let Some(sub) = j.rendering.subpasses.get(s) else { return };
        let line = Line::Subpass { queue: self.queue, pass: j.id, index: s as u32 };
        let any = |of: &dyn Fn(&Drew) -> bool| items.iter().any(|i| matches!(i, Item::Draw(d) if of(d)));
        // Input attachments that earlier subpasses or commands wrote. Render passes alone say which ones there are.
        let reads = any(&|d| d.reads_inputs) && !j.recorded.attachments.is_empty();
        let targets = || targets.iter().filter(|t| t.is_in(sub));
        let inputs = targets().filter(|t| sub.inputs.contains(&Some(t.index)) && t.used.start != s);
        let reader = who(&j.begin, "input attachments");
        for t in inputs.filter(|_| reads) {
            let written = sub.colors.contains(&Some(t.index)) || sub.depth == Some(t.index);
            let read = self.access(&reader, line, Use::read(stage::FRAGMENT, access::INPUT_ATTACHMENT));
            let new = Access { attachment: written, ..read };
            let found = self.touch(&new, &t.bytes);
            self.tell(&new, &found, false);
        }
        let writer = who(&j.begin, "draws");
        for t in targets() {
            let depth = match t.aspect {
                Aspects::DEPTH => sub.depth == Some(t.index) && any(&|d| d.writes_depth),
                Aspects::STENCIL => sub.stencil == Some(t.index) && any(&|d| d.writes_stencil),
                _ => false,
            };
            let depth = depth && !t.read_only;
            let drawn = |k: usize| any(&|d| d.writes_colors >> k & 1 != 0);
            let color = sub.colors.iter().enumerate().any(|(k, c)| *c == Some(t.index) && drawn(k));
            let color = color && !t.depth;
            // Where the subpass clears it, that has said as much.
            if t.used.start == s && t.load != Load::LOAD || !depth && !color {
                continue;
            }
            let of = match depth {
                true => Use::write(stage::LATE, access::DEPTH_WRITE),
                false => Use::write(stage::COLOR, access::COLOR_WRITE),
            };
            let new = self.attached(&writer, line, of);
            let found = self.touch(&new, &t.bytes);
            self.tell(&new, &found, false);
        }
    }

    fn draw_accesses<'a>(&self, j: &Journal, d: &'a Drew, line: Line, fragments: Vec<&'a Touched>) {
        let inputs = d.inputs.iter().map(|(of, bytes)| (*of, bytes));
        let before =
            d.touched.iter().map(|(s, fences, t)| (Use::of(*s, t.access, t.what, *fences), &t.bytes));
        let known = d.fragment.as_ref().map(|p| fences(p)).unwrap_or_default();
        let own = |t: &'a Touched| (Use::of(stage::FRAGMENT, t.access, t.what, known), &t.bytes);
        let own = fragments.into_iter().map(own);
        for (of, bytes) in inputs.chain(before).chain(own) {
            let new = self.access(&d.who, line, of);
            if of.what == What::Read {
                self.tell_discarded(&new, bytes, false);
            }
            let mut found = self.touch(&new, bytes);
            let of_pass = |l: Line| matches!(l, Line::Subpass { pass, .. } if pass == j.id);
            let (own, others): (Vec<_>, Vec<_>) = found.drain(..).partition(|t| {
                t.conflict.earlier.attachment
                    && of_pass(t.conflict.earlier.line)
                    && of.access != access::INPUT_ATTACHMENT
            });
            self.tell(&new, &others, false);
            if !d.feedback {
                self.tell(&new, &own, true);
            }
        }
    }

    /// An attachment that is cleared as a whole before anything is drawn was loaded or cleared for nothing.
    fn wasted(
        &self,
        j: &Journal,
        targets: &[Target],
        s: usize,
        before: &[Item],
        clear: &Item,
        who: &dyn Fn(&Place, &str) -> Arc<Who>,
    ) {
        let Item::Clear { colors, depth, stencil, whole: true } = clear else { return };
        if before.iter().any(|i| matches!(i, Item::Draw(_))) {
            return;
        }
        let Some(sub) = j.rendering.subpasses.get(s) else { return };
        for t in targets.iter().filter(|t| t.used.start == s) {
            let cleared = match t.aspect {
                Aspects::DEPTH => *depth && sub.depth == Some(t.index),
                Aspects::STENCIL => *stencil && sub.stencil == Some(t.index),
                _ => colors.contains(&t.index),
            };
            let what = match t.load {
                Load::LOAD => "VK_ATTACHMENT_LOAD_OP_LOAD reads",
                Load::CLEAR => "VK_ATTACHMENT_LOAD_OP_CLEAR writes",
                _ => continue,
            };
            if !cleared {
                continue;
            }
            let bytes = ranges::count(&t.bytes);
            let first = t.bytes.first().map_or(0, |r| r.start);
            let (resource, ..) = tell::resource(self.hazards(), &*self.shared.report, first);
            let line = Line::Subpass { queue: self.queue, pass: j.id, index: s as u32 };
            let new = self.access(
                &who(&j.begin, "load operation"),
                line,
                Use::read(stage::COLOR, access::COLOR_READ),
            );
            let message = format!(
                "{what} {bytes} bytes that vkCmdClearAttachments overwrites before anything is drawn"
            );
            tell::tile(Kind::NeedlessTraffic, message, &new, None, resource, bytes);
        }
    }
}

/// The dependency that the specification gives a pass that has none of its own.
fn implicit() -> Masks {
    use vk::AccessFlags2 as A;
    Masks {
        stages: [vk::PipelineStageFlags2::NONE, vk::PipelineStageFlags2::ALL_COMMANDS],
        accesses: [
            A::NONE,
            A::INPUT_ATTACHMENT_READ
                | A::COLOR_ATTACHMENT_READ
                | A::COLOR_ATTACHMENT_WRITE
                | A::DEPTH_STENCIL_ATTACHMENT_READ
                | A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        ],
    }
}

/// The colour attachments that a draw writes, a bit each.
fn written(d: &Draw) -> u32 {
    let all = d.state.blend.attachments.iter().take(32).enumerate();
    all.filter(|(_, a)| !a.write.is_empty()).fold(0, |m, (k, _)| m | 1 << k)
}

/// Which draw each fragment shader's accesses belong to: the last one with that shader. Where barriers stand between the draws of one
/// shader it is not known, and nothing is told.
fn assign(items: &[Vec<Item>], fragments: Vec<Touched>) -> Vec<([usize; 2], Touched)> {
    let of = |t: &Touched| {
        let draws = items
            .iter()
            .enumerate()
            .flat_map(|(s, all)| all.iter().enumerate().map(move |(n, i)| ([s, n], i)));
        let mut place = None;
        for (at, item) in draws {
            let Item::Draw(d) = item else { continue };
            if !d.fragment.as_ref().is_some_and(|p| t.is_by(p)) {
                continue;
            }
            match place {
                Some((_, segment)) if segment != d.segment => return None,
                _ => place = Some((at, d.segment)),
            }
        }
        place.map(|(at, _)| at)
    };
    fragments.into_iter().filter_map(|t| Some((of(&t)?, t))).collect()
}
