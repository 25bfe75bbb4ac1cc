//! What the driver's compiler knows of a shader.

use counters::{Model, once};
use shader::Module;
use shader::bytecode::Program;
use shader::cost::{Cost, Ways};
use shader::instrument::{Entry, Stretch, by_line};
use shader::interface::DepthMode;
use shader::ir::{Origin, Stage};
use shader::options::{Binding, Error, Options, ShaderCores};
use std::cell::RefCell;

/// One way to run a shader: all of it, or on vertices whose positions are shaded apart one of its halves.
pub struct Variant {
    pub name: &'static str,
    pub ways: Ways,
    /// Locations of the attributes that it reads.
    pub attributes: Vec<u16>,
}

pub struct Analysis {
    pub stage: Stage,
    pub entry: String,
    pub variants: Vec<Variant>,
    /// 32-bit registers that an invocation needs.
    pub registers: u64,
    /// Bytes of private arrays in memory.
    pub stack_bytes: u64,
    /// Percent of the arithmetic instructions that work on 16 bits or fewer.
    pub narrow: f64,
    /// Percent of all instructions that run once a draw or dispatch.
    pub uniform: f64,
    pub has_uniform: bool,
    /// It writes memory that others see; not known of task and mesh shaders.
    pub side_effects: Option<bool>,
    pub modifies_coverage: bool,
    pub late_test: bool,
    pub late_update: bool,
    pub reads_colour: bool,
    /// In the order of the code.
    pub loops: Vec<Loop>,
    spec: Vec<(u32, u64)>,
}

/// A loop, as a user names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    pub at: Place,
    /// At most; `None`: unknown.
    pub iterations: Option<u32>,
    /// The iterations follow from constants.
    pub constant: bool,
}

/// Where a loop begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Line(u32),
    /// The result id of the header's OpLabel, in modules without lines.
    Label(u32),
}

impl Place {
    /// As `--trips` takes it.
    pub fn argument(self) -> String {
        match self {
            Place::Line(line) => line.to_string(),
            Place::Label(label) => format!("%{label}"),
        }
    }
    pub fn name(self) -> String {
        let kind = if matches!(self, Place::Line(_)) { "line" } else { "label" };
        format!("{kind} {}", self.argument())
    }
}

/// What the user asks of a shader.
#[derive(Clone, Copy, Default)]
pub struct Asked<'a> {
    pub spec: &'a [(u32, u64)],
    /// Iterations of loops.
    pub trips: &'a [(Place, u32)],
}

impl Analysis {
    /// Registers that a thread has.
    pub fn work_registers(&self) -> u64 {
        self.registers.min(once::MOST_REGISTERS)
    }
    /// What a Mali, whose threads have no more registers, would keep in memory. The model does not: cycles are without it.
    pub fn spilled_bytes(&self) -> u64 {
        self.registers.saturating_sub(once::MOST_REGISTERS) * 4
    }
}

pub fn code(c: &Cost) -> once::Code {
    let [fma, cvt, sfu, issues, slots, textures] =
        [c.fma, c.cvt, c.sfu, c.ls, c.varying, c.tex].map(u64::from);
    once::Code { fma, cvt, sfu, issues, slots, textures }
}

/// As a pipeline would whose layout has whatever the shader asks for.
fn compile(
    module: &Module,
    stage: Stage,
    entry: &str,
    asked: Asked,
    model: &Model,
    loops: &RefCell<Vec<Loop>>,
) -> Result<Program, Error> {
    // Every binding has a table's room of its own, for as many elements as anybody may ask for.
    let binding = |set: u32, binding: u32| {
        let at = binding.checked_mul(1 << 16).filter(|_| set < 32);
        at.map(|at| Binding::new(set, at, 1 << 11))
    };
    // A function's loops come once for each of its calls, and a shader may be lowered several times.
    let iterations = |header: Origin, known: Option<u32>| {
        let at = if header.line > 0 { Place::Line(header.line) } else { Place::Label(header.label) };
        let given = asked.trips.iter().find(|t| t.0 == at).map(|t| t.1);
        let found = Loop { at, iterations: given.or(known), constant: given.is_none() };
        let mut all = loops.borrow_mut();
        if !all.contains(&found) {
            all.push(found);
        }
        found.iterations
    };
    let options = Options {
        spec: asked.spec,
        iterations: Some(&iterations),
        cores: ShaderCores { cores: model.cores as u32, warps: model.core.warps as u32 },
        ..Options::new(stage, entry, &binding)
    };
    shader::compile(module, &options)
}

pub fn analyse(
    module: &Module,
    stage: Stage,
    entry: &str,
    asked: Asked,
    model: &Model,
) -> Result<Analysis, Error> {
    let loops = RefCell::default();
    let p = compile(module, stage, entry, asked, model, &loops)?;
    let (profile, i) = (&p.profile, &p.interface);
    let variants = match &profile.halves {
        Some(h) => [("Position", &h.position), ("Varying", &h.others)]
            .map(|(name, h)| Variant { name, ways: h.ways, attributes: h.attributes.clone() })
            .into(),
        None => vec![Variant { name: "Main", ways: profile.ways, attributes: vec![] }],
    };
    let (all, once) = (&profile.ways.total, &profile.uniform);
    let (once_each, every) = (once.instructions(), once.instructions() + all.instructions());
    let uniform = if every == 0 { 0.0 } else { 100.0 * f64::from(once_each) / f64::from(every) };
    let fragment = stage == Stage::Fragment;
    let writes_depth = i.depth != DepthMode::default() || i.writes_stencil;
    let coverage = fragment && (i.discards || i.writes_sample_mask);
    // A compute shader has no other outputs: all that is neither a load nor a texture's is a store or an atomic.
    let side_effects = match stage {
        Stage::Compute => Some(all.ls > all.loads + all.single),
        Stage::Task | Stage::Mesh => None,
        _ => Some(i.writes_memory),
    };
    let effects = side_effects == Some(true);
    Ok(Analysis {
        stage,
        entry: entry.into(),
        variants,
        registers: profile.registers.into(),
        stack_bytes: u64::from(p.scratch_words) * 4,
        narrow: all.narrow_percent(),
        uniform,
        has_uniform: !once.is_free(),
        side_effects,
        modifies_coverage: coverage,
        late_test: fragment && !i.early_tests && (writes_depth || effects),
        late_update: fragment && !i.early_tests && (writes_depth || effects || coverage),
        reads_colour: fragment && i.reads_tile,
        loops: loops.into_inner(),
        spec: asked.spec.to_vec(),
    })
}

/// What each line of the source costs, once through.
pub fn lines(
    a: &Analysis,
    module: &Module,
    entry: Entry,
    model: &Model,
) -> Result<Vec<(Stretch, Cost)>, Error> {
    let Entry::Named(name, _) = entry else { return Ok(vec![]) };
    marked(module, a.stage, name, Asked { spec: &a.spec, ..Asked::default() }, model)
}

/// What each stretch of a captured shader's lines costs, once through. `stage`: by the driver's name.
pub fn cost_of_lines(
    module: &Module,
    stage: &str,
    entry: &str,
    model: &Model,
) -> Result<Vec<(Stretch, Cost)>, Error> {
    let unknown = || Error::Unsupported(format!("stage {stage}"));
    let stage = Stage::ALL.into_iter().find(|s| s.name() == stage).ok_or_else(unknown)?;
    marked(module, stage, entry, Asked::default(), model)
}

fn marked(
    module: &Module,
    stage: Stage,
    entry: &str,
    asked: Asked,
    model: &Model,
) -> Result<Vec<(Stretch, Cost)>, Error> {
    let marked = by_line(module, Entry::Named(entry, Some(stage.model() as u32)))?;
    let module = Module::parse(&marked.words)?;
    let program = compile(&module, stage, entry, asked, model, &RefCell::default())?;
    let once = program.profile.once.iter().copied().chain(std::iter::repeat(Cost::FREE));
    Ok(marked.stretches.into_iter().zip(once).collect())
}
