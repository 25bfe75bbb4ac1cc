//! `tuff shader`: what an offline compiler tells of a shader, by the driver's own compiler and the modelled GPU's rates.

mod analysis;
mod glsl;
mod json;
mod table;

use crate::instrument::{entry as entry_of, parsed};
use crate::paint::{Paint, When};
use analysis::Analysis;
use client::{Error, Result};
use shader::Module;
use shader::ir::Stage;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
The GPU is the one that TUFF_GPU names (g720 by default). Cycles are those of one core for one warp of 16 threads, without caches and
without the waits of warps.

Examples:
  tuff shader lit.frag.spv
  tuff shader lit.frag --annotate
  tuff shader shaders.glsl --stage compute --format json
  tuff shader all.spv --entry shadow --spec 3=16 --spec 4=0.5")]
pub struct Args {
    /// A SPIR-V module, or GLSL if glslangValidator or glslc is installed.
    file: PathBuf,
    /// Only shaders of this stage; also the stage of a GLSL file whose name does not show it. One of vert, tesc, tese, geom, task,
    /// mesh, frag, comp, or the full name.
    #[arg(long, value_parser = stage)]
    stage: Option<Stage>,
    /// Only the entry point with this name.
    #[arg(long)]
    entry: Option<String>,
    /// Set a specialisation constant; a VALUE with a decimal point is a 32-bit float.
    #[arg(long, value_name = "ID=VALUE", value_parser = constant)]
    spec: Vec<(u32, u64)>,
    /// Print a table, or JSON in the format of Arm's Mali Offline Compiler.
    #[arg(long, default_value = "text")]
    format: Format,
    /// Show the source (or, if there is none, the SPIR-V's blocks) with the cost of executing each line once.
    #[arg(long)]
    annotate: bool,
    /// Source files, for modules that contain only their names.
    #[arg(long)]
    source: Vec<PathBuf>,
    /// Use colour; auto: only on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: When,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// A stage's names: its file extension, in full, and that of Arm's reports.
fn names(stage: Stage) -> (&'static str, &'static str, &'static str) {
    match stage {
        Stage::Vertex => ("vert", "vertex", "Vertex"),
        Stage::TessControl => ("tesc", "tessellation-control", "Tessellation Control"),
        Stage::TessEval => ("tese", "tessellation-evaluation", "Tessellation Evaluation"),
        Stage::Geometry => ("geom", "geometry", "Geometry"),
        Stage::Task => ("task", "task", "Task"),
        Stage::Mesh => ("mesh", "mesh", "Mesh"),
        Stage::Fragment => ("frag", "fragment", "Fragment"),
        Stage::Compute => ("comp", "compute", "Compute"),
        Stage::RayGen => ("rgen", "ray-generation", "Ray Generation"),
        Stage::Intersection => ("rint", "intersection", "Intersection"),
        Stage::AnyHit => ("rahit", "any-hit", "Any Hit"),
        Stage::ClosestHit => ("rchit", "closest-hit", "Closest Hit"),
        Stage::Miss => ("rmiss", "miss", "Miss"),
        Stage::Callable => ("rcall", "callable", "Callable"),
    }
}

fn stage(text: &str) -> std::result::Result<Stage, String> {
    let is = |s: &Stage| [names(*s).0, names(*s).1].contains(&text);
    Stage::ALL.into_iter().find(is).ok_or_else(|| {
        let all: Vec<_> = Stage::ALL.iter().map(|s| names(*s).0).collect();
        format!("none of {}", all.join(", "))
    })
}

fn constant(text: &str) -> std::result::Result<(u32, u64), String> {
    let (id, value) = text.split_once('=').ok_or("ID=VALUE")?;
    let id = id.parse().map_err(|_| format!("{id:?} is no id"))?;
    let float =
        || value.contains('.').then(|| value.parse::<f32>().ok()).flatten().map(|f| f.to_bits().into());
    let whole = || value.parse::<i64>().ok().map(|i| i as u64).or_else(|| value.parse().ok());
    let value = float().or_else(whole).ok_or_else(|| format!("{value:?} is not a number"))?;
    Ok((id, value))
}

/// The module: of the file itself, or of what a shader compiler makes of it.
fn module(args: &Args) -> Result<(Module, bool)> {
    let say = |e: String| Error::file(&args.file, e);
    let bytes = std::fs::read(&args.file).map_err(|e| say(e.to_string()))?;
    let (bytes, compiled) = if bytes.starts_with(&glsl::SPIRV) {
        (bytes, false)
    } else if std::str::from_utf8(&bytes).is_ok() {
        (glsl::compile(&args.file, glsl_stage(args)?)?, true)
    } else {
        return Err(say("neither SPIR-V nor text".into()));
    };
    Ok((parsed(&args.file, &bytes)?, compiled))
}

fn glsl_stage(args: &Args) -> Result<Stage> {
    let extension = |p: &Path| Some(p.extension()?.to_str()?.to_string());
    // shadow.vert and shadow.vert.glsl
    let mut path = args.file.clone();
    if extension(&path).as_deref() == Some("glsl") {
        path.set_extension("");
    }
    let by_name = extension(&path).and_then(|e| stage(&e).ok());
    args.stage.or(by_name).ok_or_else(|| {
        Error::file(&args.file, "neither SPIR-V nor GLSL whose name says its stage (lit.frag): --stage frag")
    })
}

/// The entry points that there are: `fragment main, vertex main`.
fn inside(module: &Module) -> String {
    let stage = |model| Stage::ALL.into_iter().find(|s| s.model() as u32 == model);
    let name = |(entry, model)| Some(format!("{} {entry}", names(stage(model)?).1));
    let all: Vec<_> = module.entry_points().into_iter().filter_map(name).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// What the module has of what is asked for.
fn analyses(args: &Args, module: &Module) -> Result<Vec<Analysis>> {
    let say = |e: String| Error::file(&args.file, e);
    let mut all = vec![];
    for (entry, model) in module.entry_points() {
        let stage = Stage::ALL.into_iter().find(|s| s.model() as u32 == model);
        let Some(stage) = stage else { continue };
        if args.stage.is_some_and(|s| s != stage) || args.entry.as_ref().is_some_and(|e| *e != entry) {
            continue;
        }
        let made = analysis::analyse(module, stage, &entry, &args.spec);
        all.push(made.map_err(|e| say(format!("{} shader '{entry}': {e}", names(stage).1)))?);
    }
    match all.is_empty() {
        true => Err(say(format!("no shader of this stage and name in it: it has {}", inside(module)))),
        false => Ok(all),
    }
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(problem) = counters::model::problem() {
        return Err(Error(format!("TUFF_GPU: {problem}")));
    }
    let (module, compiled) = module(args)?;
    let model = counters::model::current();
    let all = analyses(args, &module)?;
    let paint = Paint::new(args.color);
    if args.format == Format::Json {
        println!("{}", json::report(&args.file, compiled, &all, model));
        return Ok(());
    }
    for (i, a) in all.iter().enumerate() {
        print!("{}{}", if i > 0 { "\n" } else { "" }, table::table(&args.file, a, model, paint));
        if args.annotate {
            let mut sources = crate::annotate::texts(&module, &args.file, &args.source);
            if compiled {
                // The compiler's own copy begins with what it has put in front.
                glsl::own(&mut sources, &args.file);
            }
            let text = table::annotated(a, &sources, &module, entry_of(&Some(a.entry.clone())), model, paint);
            print!("\n{}", text.map_err(|e| Error::file(&args.file, e))?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
