//! What the driver's compiler knows of a shader.

use counters::once;
use shader::Module;
use shader::bytecode::Program;
use shader::cost::{Cost, Ways};
use shader::instrument::{Entry, Stretch, by_line};
use shader::interface::DepthMode;
use shader::ir::Stage;
use shader::options::{Binding, Error, Options, ShaderCores};

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
    spec: Vec<(u32, u64)>,
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
fn compile(module: &Module, stage: Stage, entry: &str, spec: &[(u32, u64)]) -> Result<Program, Error> {
    let core = &counters::model::current();
    // Every binding has a table's room of its own, for as many elements as anybody may ask for.
    let binding = |set: u32, binding: u32| {
        let at = binding.checked_mul(1 << 16).filter(|_| set < 32);
        at.map(|at| Binding::new(set, at, 1 << 11))
    };
    let options = Options {
        spec,
        cores: ShaderCores { cores: core.cores as u32, warps: core.core.warps as u32 },
        ..Options::new(stage, entry, &binding)
    };
    shader::compile(module, &options)
}

pub fn analyse(module: &Module, stage: Stage, entry: &str, spec: &[(u32, u64)]) -> Result<Analysis, Error> {
    let p = compile(module, stage, entry, spec)?;
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
        spec: spec.to_vec(),
    })
}

/// What each line of the source costs, once through.
pub fn lines(a: &Analysis, module: &Module, entry: Entry) -> Result<Vec<(Stretch, Cost)>, Error> {
    let Entry::Named(name, _) = entry else { return Ok(vec![]) };
    let marked = by_line(module, Entry::Named(name, Some(a.stage.model() as u32)))?;
    let program = compile(&Module::parse(&marked.words)?, a.stage, name, &a.spec)?;
    let once = program.profile.once.iter().copied().chain(std::iter::repeat(Cost::FREE));
    Ok(marked.stretches.into_iter().zip(once).collect())
}
