//! What a recorded frame has of a render pass: its commands in order, with state, bindings and meshes, and its tiles (docs/frame.md).

pub mod mesh;
pub mod state;

use crate::draw::Draw;
use crate::state::State;
use machine::bindings::Bindings;
use machine::lost::Place;
use machine::record::bound::{self, BindingsFact, Seen};
use machine::record::{Blob, Record};
use machine::shared::Shared;
use mesh::{MeshIn, MeshOut, MeshOutFact};
use parking_lot::Mutex;
use serde::Serialize;
use shader::bytecode::Program;
use small_sort::SmallSort;
use state::StateFact;
use std::sync::Arc;

/// The bit layout of a format, for readers of raw texels.
#[derive(Clone, Serialize)]
pub struct FormatFact {
    pub name: &'static str,
    /// Of a texel or block.
    pub bytes: u32,
    pub class: String,
    /// Letter, first bit and bits of each component, from the lowest bit on.
    pub components: Vec<(char, u8, u8)>,
}

impl FormatFact {
    pub fn of(f: &texel::format::FormatInfo) -> FormatFact {
        let components = f.components().iter();
        FormatFact {
            name: f.name,
            bytes: f.block_bytes,
            class: format!("{:?}", f.class).to_lowercase(),
            components: components.map(|c| (c.name as char, c.offset, c.bits)).collect(),
        }
    }
}

/// Planes of attachments of a pass that is recorded: streams number them by a byte.
pub const MOST_PLANES: usize = 255;
/// Draws and views of a command whose geometry is kept.
const MOST_MESHES: usize = 256;

/// A command of a pass.
#[derive(Serialize)]
pub struct CommandFact {
    pub kind: &'static str,
    pub name: String,
    /// VK_EXT_debug_utils, outermost first, `/` between.
    pub label: String,
    pub subpass: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<Box<DrawFact>>,
}

#[derive(Serialize)]
pub struct DrawFact {
    pub call: CallFact,
    /// Which of the pass's states.
    pub state: usize,
    pub bindings: BindingsFact,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh_in: Option<MeshIn>,
    pub mesh_out: Vec<MeshOutFact>,
}

/// Of the first of its draws, where it is several.
#[derive(Serialize)]
pub struct CallFact {
    pub draws: u32,
    pub indexed: bool,
    pub first: u32,
    pub count: u32,
    pub vertex_offset: i32,
    pub first_instance: u32,
    pub instances: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<[u32; 3]>,
}

/// A tile that has been drawn.
#[derive(Clone, Copy, Serialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileFact {
    /// How often tiles had been drawn before: a pass may draw them more than once.
    pub turn: u32,
    pub layer: u32,
    /// Its first pixel.
    pub y: i32,
    pub x: i32,
    /// First byte and bytes; `None`: there was no room.
    pub data: Option<(u64, u64)>,
}

/// A pass that is recorded.
pub struct PassRecord {
    pub to: Arc<Record>,
    pub commands: Vec<CommandFact>,
    states: Vec<(Arc<State>, StateFact)>,
    seen: Seen,
    /// Which command each of the ops is of that have been gathered.
    pub ops: Vec<u32>,
    pub turn: u32,
    tiles: Mutex<Vec<TileFact>>,
}

impl PassRecord {
    pub fn new(to: Arc<Record>) -> Box<PassRecord> {
        Box::new(PassRecord {
            to,
            commands: vec![],
            states: vec![],
            seen: Seen::default(),
            ops: vec![],
            turn: 0,
            tiles: Mutex::default(),
        })
    }

    /// A command that is no draw.
    pub fn command(&mut self, kind: &'static str, name: String, place: Option<&Place>, subpass: usize) {
        let label = place.map(|p| p.labels().joined()).unwrap_or_default();
        self.commands.push(CommandFact { kind, name, label, subpass, draw: None });
    }

    /// A draw begins.
    pub fn draw(&mut self, shared: &Shared, d: &Draw, place: &Place, subpass: usize) {
        let known = self.states.iter().rposition(|(s, _)| Arc::ptr_eq(s, &d.state));
        let state = known.unwrap_or_else(|| {
            self.states.push((d.state.clone(), StateFact::of(&d.state)));
            self.states.len() - 1
        });
        let p = &d.pipeline;
        let stages = p.programs().map(|(_, p)| p).chain(&p.task).chain(&p.fragment);
        let bindings = self.bindings(shared, &p.title, &mut stages.map(|p| &**p), &d.bindings);
        let call = d.what.nth(0);
        let call = CallFact {
            draws: d.what.count(),
            indexed: call.is_some_and(|c| c.indexed),
            first: call.map_or(0, |c| c.first),
            count: call.map_or(0, |c| c.count),
            vertex_offset: call.map_or(0, |c| c.vertex_offset),
            first_instance: call.map_or(0, |c| c.first_instance),
            instances: call.map_or(0, |c| c.instances),
            groups: d.what.groups(0),
        };
        let mesh_in = MeshIn::of(&self.to, d);
        let draw = DrawFact { call, state, bindings, mesh_in, mesh_out: vec![] };
        self.commands.push(CommandFact {
            kind: "draw",
            name: d.title(),
            label: place.labels().joined(),
            subpass,
            draw: Some(Box::new(draw)),
        });
    }

    fn bindings(
        &mut self,
        shared: &Shared,
        title: &machine::lost::Title,
        programs: &mut dyn Iterator<Item = &Program>,
        bindings: &Bindings,
    ) -> BindingsFact {
        bound::find(&self.to, shared, title, programs, bindings, &mut self.seen)
    }

    /// What the last draw's geometry has made.
    pub fn made(&mut self, out: MeshOut, of: (u32, Option<u32>)) {
        let draw = self.commands.last_mut().and_then(|c| c.draw.as_mut());
        let Some(d) = draw.filter(|d| d.mesh_out.len() < MOST_MESHES) else { return };
        d.mesh_out.extend(out.fact(&self.to, of));
    }

    /// An op has been gathered, of the last command.
    pub fn gathered(&mut self) {
        self.ops.push((self.commands.len() as u32).saturating_sub(1));
    }

    /// A tile has been drawn; what happened in it.
    pub fn tile(&self, layer: u32, [x, y]: [i32; 2], bytes: &[u8]) {
        let data = self.to.put(bytes).map(|Blob(at, n)| (at, n));
        self.tiles.lock().push(TileFact { turn: self.turn, layer, y, x, data });
    }

    /// All tiles have been drawn with what had been gathered.
    pub fn drawn(&mut self) {
        self.turn += 1;
        self.ops.clear();
    }

    pub fn states(&self) -> impl Iterator<Item = &StateFact> {
        self.states.iter().map(|(_, s)| s)
    }

    /// In an order that does not depend on threads.
    pub fn tiles(&self) -> Vec<TileFact> {
        let mut all = self.tiles.lock().clone();
        all.small_sort_by_key(|t| (t.turn, t.layer, t.y, t.x));
        all
    }
}
