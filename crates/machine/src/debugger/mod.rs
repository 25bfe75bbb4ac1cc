//! What debugged shaders tell (`TUFF_DEBUG`): the notes of a warp become records of a file.
//!
//! A device that is debugged has one thread, so what runs on a thread for one workload is over before the next begins: which workload a
//! note is of is known by thread.

mod warps;

use crate::lost::{Place, Title};
use parking_lot::Mutex;
use settings::{Aim, Invocation};
use shader::bytecode::Program;
use shader::ir::Stage;
use shader::notes::{File, Made, Module, Target};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use warps::{Kept, Open};
use wave::NoteWave;

/// Version of the file's form.
pub const FILE_VERSION: u32 = 1;
/// Shaders that could not be debugged of which it is told.
const MAX_PROBLEMS: usize = 64;

/// Whether shaders are debugged.
pub fn wanted() -> bool {
    settings::get().debug.is_some()
}

fn aim() -> &'static Aim {
    &settings::get().debug_at
}

/// What shaders are to be compiled for.
pub fn target() -> Option<Target> {
    wanted().then(|| match aim().invocation {
        Invocation::Pixel(at) => Target::Pixel(at),
        Invocation::Vertex([vertex, instance]) => Target::Vertex { vertex, instance },
        Invocation::Thread(id) => Target::Thread(id),
    })
}

/// The command that shaders run for.
#[derive(Clone, Default)]
struct Workload {
    command: String,
    labels: String,
    pipeline: String,
    /// Its number in its frame.
    draw: u32,
}

/// A shader with notes.
struct Known {
    stage: Stage,
    entry: String,
    hash: u64,
    spec: Vec<(u32, u64)>,
    words: Arc<[u32]>,
    /// Its index in the file, once a warp of it is there.
    module: Option<u32>,
}

#[derive(Default)]
struct Trace {
    /// By the program's address.
    shaders: HashMap<usize, Known>,
    modules: Vec<Module>,
    kept: Kept,
    /// Parts of draws whose fragments are still to be shaded, by serial number.
    items: HashMap<u64, Arc<Workload>>,
    problems: Vec<String>,
    /// Frames that have ended.
    frames: u64,
    /// Draws and dispatches of this frame.
    number: u32,
    /// The file has been written, and nothing is added.
    done: bool,
}

static TRACE: LazyLock<Mutex<Trace>> = LazyLock::new(Mutex::default);

thread_local! {
    static CURRENT: RefCell<Arc<Workload>> = RefCell::default();
    /// Whose fragments are shaded.
    static SHADING: RefCell<Arc<Workload>> = RefCell::default();
    static OPEN: RefCell<Open> = RefCell::default();
}

/// What is known of a shader before it is compiled.
pub struct Source<'a> {
    pub stage: Stage,
    pub entry: &'a str,
    pub hash: u64,
    pub spec: &'a [(u32, u64)],
    pub words: &'a [u32],
}

/// A program with notes has been compiled.
pub fn compiled(program: &Program, source: &Source) {
    let known = Known {
        stage: source.stage,
        entry: source.entry.into(),
        hash: source.hash,
        spec: source.spec.to_vec(),
        words: source.words.into(),
        module: None,
    };
    TRACE.lock().shaders.insert(std::ptr::from_ref(program).addr(), known);
}

/// A shader cannot be debugged.
pub fn cannot(source: &Source, why: &dyn std::fmt::Display) {
    let problem = format!("{} shader '{}' {:016x}: {why}", source.stage.name(), source.entry, source.hash);
    let mut trace = TRACE.lock();
    if trace.problems.len() < MAX_PROBLEMS && !trace.problems.contains(&problem) {
        trace.problems.push(problem);
    }
}

impl Trace {
    fn workload(&mut self, place: &Place, title: &Title) -> Arc<Workload> {
        let draw = self.number;
        self.number += 1;
        let (command, labels) = (place.steady(), place.labels().joined());
        Arc::new(Workload { command, labels, pipeline: title.steady(), draw })
    }

    /// Notes of this frame and draw are kept.
    fn wants(&self, draw: u32) -> bool {
        let aim = aim();
        !self.done && aim.frame.is_none_or(|f| f == self.frames + 1) && aim.draw.is_none_or(|d| d == draw)
    }

    fn file(&self) -> File {
        let process = std::env::args().next().unwrap_or_default();
        let mut problems = self.problems.clone();
        problems.extend(self.kept.problem());
        let frame = self.kept.warps.first().map_or(aim().frame.unwrap_or(1), |w| w.frame);
        let made = Made { version: FILE_VERSION, process, frame, problems };
        File { made, modules: self.modules.clone(), warps: self.kept.warps.clone() }
    }

    fn module(&mut self, program: &Program) -> Option<u32> {
        let known = self.shaders.get_mut(&std::ptr::from_ref(program).addr())?;
        if known.module.is_none() {
            known.module = Some(self.modules.len() as u32);
            self.modules.push(Module {
                stage: known.stage,
                entry: known.entry.clone(),
                hash: known.hash,
                spec: known.spec.clone(),
                workgroup: program.workgroup,
                words: known.words.to_vec(),
                frames: program.notes.frames.clone(),
                notes: program.notes.all.clone(),
            });
        }
        known.module
    }
}

/// A dispatch or a draw begins on this thread. The fragments of a draw are shaded later.
pub fn workload(place: &Place, title: &Title) {
    if wanted() {
        let workload = TRACE.lock().workload(place, title);
        CURRENT.set(workload);
    }
}

/// A part of the draw that has begun gets this serial number.
pub fn item(serial: u64) -> u64 {
    if wanted() {
        let workload = CURRENT.with_borrow(|w| w.clone());
        TRACE.lock().items.insert(serial, workload);
    }
    serial
}

/// The fragments of this part of a draw are shaded on this thread from now on.
pub fn shades(serial: u64) {
    if wanted()
        && let Some(workload) = TRACE.lock().items.get(&serial)
    {
        SHADING.set(workload.clone());
    }
}

/// A wave has executed an instruction.
pub fn note(wave: &NoteWave) {
    OPEN.with_borrow_mut(|open| warps::note(open, wave));
}

/// A frame has been presented; the file, if that was the last of what is recorded, and whether the process is to end.
pub fn presented() -> Option<(Vec<u8>, bool)> {
    let mut trace = TRACE.lock();
    trace.frames += 1;
    trace.number = 0;
    trace.items.clear();
    let over = aim().frame.map_or(!trace.kept.warps.is_empty(), |f| f <= trace.frames);
    (over && !trace.done).then(|| {
        trace.done = true;
        (trace.file().to_bytes(), aim().ends)
    })
}

/// The file as it is now, unless it has been written for good.
pub fn so_far() -> Option<Vec<u8>> {
    let trace = TRACE.lock();
    (!trace.done).then(|| trace.file().to_bytes())
}
