//! `TUFF_INSTRUMENT=FOLDER`: instruments every pipeline, and leaves in the folder what each basic block of each shader
//! cost: for each stage that ran, `STAGE-ENTRY-HASH.spv` (the application's module) and `.json` (what `tuff annotate`
//! reads). What an application instruments and captures itself goes to its own objects instead.

use crate::pipeline_executable::stage_name;
use crate::shader_module::Code;
use machine::instrumentation::{Active, Instrumentation, METRIC, METRICS};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Once};

/// A stage of a pipeline whose metrics are gathered.
#[derive(Clone)]
pub(crate) struct Stage {
    pub stage: vk::ShaderStageFlags,
    pub entry: String,
    pub code: Arc<Code>,
}

/// The metrics of a pipeline's draws or dispatches, and whose they are.
struct Measured {
    object: Arc<Instrumentation>,
    stages: Vec<Stage>,
}

static ALL: Mutex<Vec<Measured>> = Mutex::new(Vec::new());

fn folder() -> Option<&'static Path> {
    settings::get().instrument.as_deref()
}

/// Whether every pipeline is to be instrumented.
pub(crate) fn wanted() -> bool {
    folder().is_some()
}

/// Where a pipeline's metrics go if the application has no object active.
pub(crate) fn gather(stages: &[Stage]) -> Option<Active> {
    folder()?;
    static AT_EXIT: Once = Once::new();
    extern "C" fn leave() {
        let _ = std::panic::catch_unwind(write);
    }
    // SAFETY: the function is there as long as the process: drivers are not unloaded before their last call.
    AT_EXIT.call_once(|| unsafe {
        libc::atexit(leave);
    });
    let object = Arc::new(Instrumentation::new());
    ALL.lock().push(Measured { object: object.clone(), stages: stages.to_vec() });
    Some((object, 0))
}

/// Metrics by block.
type Sums = BTreeMap<u32, [u64; METRICS]>;

/// Writes all files anew: at the end of each device and of the process.
pub(crate) fn write() {
    let Some(folder) = folder() else { return };
    let mut shaders: BTreeMap<(u32, u128, String), (Arc<Code>, Sums)> = BTreeMap::new();
    for m in ALL.lock().iter() {
        for (key, values) in m.object.values(usize::MAX).0 {
            let Some(s) = m.stages.iter().find(|s| s.stage.as_raw() == key.stages) else { continue };
            let of = (key.stages, s.code.hash, s.entry.clone());
            let sums = &mut shaders.entry(of).or_insert_with(|| (s.code.clone(), Sums::new())).1;
            let sum = sums.entry(key.block).or_insert([0; METRICS]);
            sum.iter_mut().zip(values).for_each(|(s, v)| *s = s.saturating_add(v));
        }
    }
    let failed = |at: &Path, e| crate::debug::log_error(&format!("TUFF_INSTRUMENT: {}: {e}", at.display()));
    if !shaders.is_empty()
        && let Err(e) = std::fs::create_dir_all(folder)
    {
        return failed(folder, e);
    }
    for ((stage, hash, entry), (code, sums)) in shaders {
        let stage = stage_name(vk::ShaderStageFlags::from_raw(stage));
        let safe: String =
            entry.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
        let file = folder.join(format!("{stage}-{safe}-{:016x}", (hash >> 64) as u64));
        let words: Vec<u8> = code.module.words().iter().flat_map(|w| w.to_le_bytes()).collect();
        let done = std::fs::write(file.with_extension("spv"), words)
            .and_then(|()| std::fs::write(file.with_extension("json"), json(stage, &entry, &sums)));
        if let Err(e) = done {
            return failed(&file, e);
        }
    }
}

fn json(stage: &str, entry: &str, sums: &Sums) -> String {
    let names: Vec<String> = METRIC.iter().map(|m| shader::instrument::quoted(m.0)).collect();
    let entry = shader::instrument::quoted(entry);
    let mut out = format!(
        "{{\"stage\": \"{stage}\", \"entry\": {entry},\n\"metrics\": [{}],\n\"blocks\": [",
        names.join(", ")
    );
    for (i, (block, values)) in sums.iter().enumerate() {
        let values: Vec<String> = values.iter().map(u64::to_string).collect();
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n{{\"index\": {block}, \"values\": [{}]}}", values.join(", "));
    }
    out + "\n]}\n"
}
