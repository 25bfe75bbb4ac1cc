//! `TUFF_INSTRUMENT=FOLDER`: instruments every pipeline, and leaves in the folder what each basic block of each shader
//! cost: for each stage that ran, `STAGE-ENTRY-HASH.spv` (the application's module) and `.json` (what `tuff annotate`
//! reads). A capture (`TUFF_CAPTURE`, docs/capture.md) has them too. What an application instruments and captures itself goes to its own objects instead.

use crate::base::stage::stage_of;
use crate::device::code::Code;
use machine::instrumentation::{Active, Instrumentation, METRIC, METRICS, OTHERS, Work};
use machine::lost::Title;
use parking_lot::Mutex;
use shader::bytecode::Program;
use shader::cost::Cost;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Once};

/// A stage of a pipeline whose metrics are gathered.
#[derive(Clone)]
pub(crate) struct Stage {
    pub stage: vk::ShaderStageFlags,
    pub entry: String,
    pub code: Arc<Code>,
    pub program: Arc<Program>,
    /// What the application calls its module; empty if it does not.
    pub module: String,
}

/// The metrics of a pipeline's draws or dispatches, and whose they are.
struct Measured {
    title: Option<Arc<Title>>,
    object: Arc<Instrumentation>,
    stages: Vec<Stage>,
}

static ALL: Mutex<Vec<Measured>> = Mutex::new(Vec::new());

/// A capture has a folder for them; `TUFF_INSTRUMENT` has the last word.
static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let s = settings::get();
    s.instrument.clone().or_else(|| Some(s.capture.as_ref()?.join(gpu::ledger::SHADERS)))
});

fn folder() -> Option<&'static Path> {
    FOLDER.as_deref()
}

/// Whether every pipeline is to be instrumented.
pub(crate) fn wanted() -> bool {
    folder().is_some()
}

/// Where a pipeline's metrics go if the application has no object active.
pub(crate) fn gather(stages: &[Stage], title: Option<&Arc<Title>>) -> Option<Active> {
    folder()?;
    static AT_EXIT: Once = Once::new();
    extern "C" fn leave() {
        let _ = std::panic::catch_unwind(write);
    }
    // SAFETY: the function is there as long as the process: drivers are not unloaded before their last call.
    AT_EXIT.call_once(|| unsafe {
        libc::atexit(leave);
    });
    let object = Arc::new(Instrumentation::gathering());
    let (stages, title) = (stages.to_vec(), title.cloned());
    ALL.lock().push(Measured { title, object: object.clone(), stages });
    Some((object, 0))
}

/// Metrics by block.
type Sums = BTreeMap<u32, [u64; METRICS]>;

/// A shader of several pipelines: the first one's program has the cost of each block.
struct Shader {
    code: Arc<Code>,
    program: Arc<Program>,
    /// What the application calls its pipelines and its modules.
    pipelines: BTreeSet<String>,
    modules: BTreeSet<String>,
    sums: Sums,
    /// By draw or dispatch, as far as these are distinguished: how often it ran, and its metrics.
    works: BTreeMap<Work, (u64, Sums)>,
}

fn add(sums: &mut Sums, block: u32, values: &[u64; METRICS]) {
    let sum = sums.entry(block).or_insert([0; METRICS]);
    sum.iter_mut().zip(values).for_each(|(s, v)| *s = s.saturating_add(*v));
}

/// Names of [`once`]'s numbers.
const ONCE: [&str; 6] = ["FMA", "CVT", "SFU", "Load/store", "Texture", "Varying slots"];

/// Warp-instructions, and slots of a quad, of one warp that runs the block once. Of a function that is called in several places, those of
/// all, shared evenly by them.
fn once(program: &Program, block: u32) -> [u32; ONCE.len()] {
    let uses = program.profile.marks.iter().filter(|u| u.mark == block);
    let (mut sum, mut entries) = (Cost::FREE, 0);
    for u in uses {
        sum.add(&u.cost);
        entries += u.entry as u32;
    }
    let Cost { fma, cvt, sfu, ls, tex, varying, .. } = sum;
    [fma, cvt, sfu, ls, tex, varying].map(|n| n.div_ceil(entries.max(1)))
}

/// Writes all files anew: at the end of each device and of the process.
pub(crate) fn write() {
    if let Some(folder) = folder().map(gpu::process::place) {
        files::within_limits(|| write_to(&folder));
    }
}

fn write_to(folder: &Path) {
    let mut shaders: BTreeMap<(u32, u128, String), Shader> = BTreeMap::new();
    for m in ALL.lock().iter() {
        let works: BTreeMap<u32, (Work, u64)> =
            m.object.works().into_iter().map(|(work, result, times)| (result, (work, times))).collect();
        let mut counted = BTreeSet::new();
        for (key, values) in m.object.values(usize::MAX).0 {
            let Some(s) = m.stages.iter().find(|s| s.stage.as_raw() == key.stages) else { continue };
            let of = (key.stages, s.code.hash, s.entry.clone());
            let new = || Shader {
                code: s.code.clone(),
                program: s.program.clone(),
                pipelines: BTreeSet::new(),
                modules: BTreeSet::new(),
                sums: Sums::new(),
                works: BTreeMap::new(),
            };
            let shader = shaders.entry(of).or_insert_with(new);
            shader.pipelines.extend(m.title.as_ref().and_then(|t| t.name()));
            shader.modules.extend(Some(&s.module).filter(|m| !m.is_empty()).cloned());
            add(&mut shader.sums, key.block, &values);
            if let Some((work, times)) = works.get(&key.result).filter(|_| key.result != OTHERS) {
                let (sum, own) = shader.works.entry(work.clone()).or_default();
                // Each of the pipeline's stages has rows of all of its blocks.
                *sum += if counted.insert((key.result, key.stages)) { *times } else { 0 };
                add(own, key.block, &values);
            }
        }
    }
    let failed =
        |at: &Path, e| crate::base::debug::log_error(&format!("TUFF_INSTRUMENT: {}: {e}", at.display()));
    if !shaders.is_empty()
        && let Err(e) = std::fs::create_dir_all(folder)
    {
        return failed(folder, e);
    }
    for ((stage, hash, entry), shader) in shaders {
        let stage = stage_name(vk::ShaderStageFlags::from_raw(stage));
        let safe: String =
            entry.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
        let file = folder.join(format!("{}-{safe}-{:016x}", stage.replace(' ', "-"), (hash >> 64) as u64));
        let words: Vec<u8> = shader.code.module.words().iter().flat_map(|w| w.to_le_bytes()).collect();
        let done = std::fs::write(file.with_extension("spv"), words)
            .and_then(|()| std::fs::write(file.with_extension("json"), json(stage, &entry, &shader)));
        if let Err(e) = done {
            return failed(&file, e);
        }
    }
}

fn json(stage: &str, entry: &str, of: &Shader) -> String {
    let list = |names: &BTreeSet<String>| {
        names.iter().map(|n| shader::instrument::quoted(n)).collect::<Vec<_>>().join(", ")
    };
    let names: Vec<String> = METRIC.iter().map(|m| shader::instrument::quoted(m.0)).collect();
    let entry = shader::instrument::quoted(entry);
    let mut out = format!(
        "{{\"stage\": \"{stage}\", \"entry\": {entry}, \"registers\": {},\n\"pipelines\": [{}], \"modules\": [{}],\n\"metrics\": [{}],\n\"once\": {ONCE:?},\n\"blocks\": [",
        of.program.profile.registers,
        list(&of.pipelines),
        list(&of.modules),
        names.join(", ")
    );
    for (i, (block, values)) in of.sums.iter().enumerate() {
        let values: Vec<String> = values.iter().map(u64::to_string).collect();
        let comma = if i == 0 { "" } else { "," };
        let (values, once) = (values.join(", "), once(&of.program, *block));
        let _ = write!(out, "{comma}\n{{\"index\": {block}, \"values\": [{values}], \"once\": {once:?}}}");
    }
    out += "\n],\n\"draws\": [";
    for (i, (work, (times, sums))) in of.works.iter().enumerate() {
        let quoted = shader::instrument::quoted;
        let comma = if i == 0 { "" } else { "," };
        let (label, workload) = (quoted(&work.label), quoted(&work.workload));
        let _ = write!(out, "{comma}\n{{\"label\": {label}, \"workload\": {workload}, \"times\": {times}");
        if let Some((n, label, name)) = &work.draw {
            let (label, name) = (quoted(label), quoted(name));
            let _ = write!(out, ", \"draw\": {n}, \"draw_label\": {label}, \"draw_name\": {name}");
        }
        let ran = sums.iter().filter(|(_, values)| values.iter().any(|v| *v > 0));
        let blocks: Vec<String> =
            ran.map(|(b, v)| format!("{{\"index\": {b}, \"values\": {v:?}}}")).collect();
        let _ = write!(out, ", \"blocks\": [{}]}}", blocks.join(", "));
    }
    out + "\n]}\n"
}

/// A stage as tools print it.
pub(crate) fn stage_name(stage: vk::ShaderStageFlags) -> &'static str {
    stage_of(stage).map_or("unknown", shader::ir::Stage::name)
}
