//! `tuff shader`: what an offline compiler tells of shaders, by the driver's own compiler and the modelled GPU's rates.

mod analysis;
mod gl;
mod golden;
mod inputs;
mod json;
mod languages;
mod table;
mod trips;
mod verdicts;

use crate::instrument::{entry as entry_of, parsed};
use crate::paint::{Paint, When};
pub use analysis::cost_of_lines;
use analysis::{Analysis, Asked, Place};
use client::{Error, Result};
use counters::Model;
use golden::Golden;
use inputs::Input;
use languages::{Language, Request};
use shader::Module;
use shader::ir::Stage;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use verdicts::Verdicts;

#[derive(clap::Args)]
#[command(after_help = "\
Cycles are those of one core for one warp of 16 threads, without caches and without the waits of warps.

Exit code: 0; 1 if a shader is dearer than its golden costs allow, or has none; 2 if a shader cannot be read or compiled.

Examples:
  tuff shader lit.frag.spv
  tuff shader lit.frag --annotate -D SHADOWS=1 -I shaders/include
  tuff shader shaders --gpu g57,g610,g720
  tuff shader shaders --gpu g610,g720 --golden costs.toml --update   # writes the costs
  tuff shader shaders --gpu g610,g720 --golden costs.toml            # fails if one is dearer now
  tuff shader blur.comp --trips 12=9 --trips 14=9
  tuff shader blur.comp --trips-from frames                         # means of a capture's loops
  tuff shader shadow.hlsl --stage vertex --entry shadow --format json
  tuff shader lit.hlsl --stage frag --compiler 'dxc -spirv -T ps_6_6 -E {entry} {in} -Fo {out}'
  tuff shader all.spv --entry shadow --spec 3=16 --spec 4=0.5
  cat lit.frag | tuff shader - --stage frag")]
pub struct Args {
    /// SPIR-V modules, sources in GLSL (for Vulkan, OpenGL and OpenGL ES), HLSL, WGSL and Slang, folders with any of these, or - for
    /// standard input. Sources need a compiler: glslangValidator, glslang or glslc; naga; slangc.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only shaders of this stage; also the stage of a source whose name does not show it. One of vert, tesc, tese, geom, task,
    /// mesh, frag, comp, rgen, rint, rahit, rchit, rmiss, rcall, or the full name.
    #[arg(long, value_parser = stage)]
    stage: Option<Stage>,
    /// Only the entry point with this name. For HLSL, the one that is compiled (default: main).
    #[arg(long)]
    entry: Option<String>,
    /// Set a specialisation constant; a VALUE with a decimal point is a 32-bit float.
    #[arg(long, value_name = "ID=VALUE", value_parser = constant)]
    spec: Vec<(u32, u64)>,
    /// The iterations of a loop whose number does not follow from constants: PLACE is the source line where it begins, or in a module
    /// without lines the header's label (%57). The longest path counts them.
    #[arg(long, value_name = "PLACE=N", value_parser = trips)]
    trips: Vec<(Place, u32)>,
    /// Take the iterations of loops from a capture (a folder of `run --capture` or `run --shaders`) in which the shader ran: their means, rounded.
    /// `--trips` overrides them.
    #[arg(long, value_name = "CAPTURE")]
    trips_from: Option<PathBuf>,
    /// Define a macro in GLSL, HLSL and Slang.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Look for included files in this folder.
    #[arg(short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The language of a source whose name does not show it; default: GLSL.
    #[arg(long, value_enum)]
    language: Option<Language>,
    /// A command that compiles a source to SPIR-V, in place of the language's compiler: words with {in}, {out}, {stage} and {entry}.
    #[arg(long, value_name = "COMMAND")]
    compiler: Option<String>,
    /// The modelled GPUs, as TUFF_GPU names one; default: that of TUFF_GPU, or g720.
    #[arg(long, value_delimiter = ',', value_name = "GPU,...")]
    gpu: Vec<String>,
    /// Print tables, a line for each shader, or JSON in the format of Arm's Mali Offline Compiler. Default: tables for one file and one
    /// GPU, else lines.
    #[arg(long)]
    format: Option<Format>,
    /// Show the source (or, if there is none, the SPIR-V's blocks) with the cost of executing each line once.
    #[arg(long)]
    annotate: bool,
    /// Source files, for modules that contain only their names.
    #[arg(long)]
    source: Vec<PathBuf>,
    /// Compare with the costs in this TOML file; fails if a shader is dearer, or is not in it.
    #[arg(long, value_name = "FILE")]
    golden: Option<PathBuf>,
    /// Compare, then write the present costs into the golden file.
    #[arg(long, requires = "golden")]
    update: bool,
    /// How much more a pipe may take, in percent of the cycles of the path's dearest pipe.
    #[arg(long, requires = "golden", default_value_t = 0.0, value_name = "PERCENT")]
    max_increase: f64,
    /// Write what differs from the golden costs as Markdown, for a pull request.
    #[arg(long, requires = "golden", value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the result for each shader as JUnit XML.
    #[arg(long, requires = "golden", value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Use colour; auto: only on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: When,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    Text,
    Lines,
    Json,
}

/// A modelled GPU, by the name that the user gave.
pub struct Gpu {
    name: String,
    model: Model,
}

/// An entry point of a module, as a GPU runs it.
pub struct Shader<'a> {
    file: PathBuf,
    /// The module came from a source.
    compiled: bool,
    analysis: Analysis,
    gpu: &'a Gpu,
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

fn trips(text: &str) -> std::result::Result<(Place, u32), String> {
    let (place, n) = text.split_once('=').ok_or("PLACE=N")?;
    let number = |t: &str| t.parse::<u32>().map_err(|_| format!("{t:?} is not a number"));
    let place = match place.strip_prefix('%') {
        Some(label) => Place::Label(number(label)?),
        None => Place::Line(number(place)?),
    };
    Ok((place, number(n)?))
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

/// The module of an input: itself, or what a compiler makes of it.
fn module(args: &Args, input: &Input) -> Result<(Module, bool)> {
    let say = |e: &str| Error::file(&input.file, e);
    if input.is_spirv() {
        return Ok((parsed(&input.file, &input.contents)?, false));
    }
    let Ok(text) = std::str::from_utf8(&input.contents) else { return Err(say("neither SPIR-V nor text")) };
    let language = args.language.or(input.language).unwrap_or(Language::Glsl);
    // In a folder each file has its own.
    let stage = if input.found { input.stage.or(args.stage) } else { args.stage.or(input.stage) };
    if language.needs_stage() && stage.is_none() {
        return Err(say(
            "neither SPIR-V nor a source whose name says its stage (lit.frag, lit.ps.hlsl): --stage frag",
        ));
    }
    let bytes = languages::compile(&Request {
        file: &input.file,
        text,
        on_disk: input.on_disk,
        language,
        stage,
        entry: args.entry.as_deref(),
        defines: &args.define,
        includes: &args.include,
        compiler: args.compiler.as_deref(),
    })?;
    Ok((parsed(&input.file, &bytes)?, true))
}

/// The entry points that there are: `fragment main, vertex main`.
fn inside(module: &Module) -> String {
    let stage = |model| Stage::ALL.into_iter().find(|s| s.model() as u32 == model);
    let name = |(entry, model)| Some(format!("{} {entry}", names(stage(model)?).1));
    let all: Vec<_> = module.entry_points().into_iter().filter_map(name).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// What the module has of what is asked for.
fn analyses(args: &Args, input: &Input, module: &Module, model: &Model) -> Result<Vec<Analysis>> {
    let say = |e: String| Error::file(&input.file, e);
    let ran = args.trips_from.as_deref().map(crate::costs::read).transpose()?;
    let mut all = vec![];
    for (entry, execution_model) in module.entry_points() {
        let stage = Stage::ALL.into_iter().find(|s| s.model() as u32 == execution_model);
        let Some(stage) = stage else { continue };
        if args.stage.is_some_and(|s| s != stage) || args.entry.as_ref().is_some_and(|e| *e != entry) {
            continue;
        }
        let mut trips = args.trips.clone();
        if let Some(ran) = &ran {
            let found = trips::measured(module, stage, &entry, ran).map_err(say)?;
            trips.extend(found.into_iter().filter(|f| !args.trips.iter().any(|t| t.0 == f.0)));
        }
        let asked = Asked { spec: &args.spec, trips: &trips };
        let made = analysis::analyse(module, stage, &entry, asked, model);
        all.push(made.map_err(|e| say(format!("{} shader '{entry}': {e}", names(stage).1)))?);
    }
    match all.is_empty() && !input.found {
        true => Err(say(format!("no shader of this stage and name in it: it has {}", inside(module)))),
        false => Ok(all),
    }
}

/// The GPUs that are asked for.
fn gpus(args: &Args) -> Result<Vec<Gpu>> {
    if args.gpu.is_empty() {
        let name = counters::model::current_name().into();
        return Ok(vec![Gpu { name, model: counters::model::current().clone() }]);
    }
    let load = |name: &String| {
        let model = Model::load(Some(name)).map_err(|e| Error(e.replacen("TUFF_GPU=", "--gpu ", 1)))?;
        Ok(Gpu { name: name.clone(), model })
    };
    args.gpu.iter().map(load).collect()
}

/// The tables of an input's shaders, with their sources where these are asked for.
fn tables(args: &Args, input: &Input, module: &Module, shaders: &[Shader]) -> Result<String> {
    let paint = Paint::new(args.color);
    let mut out = String::new();
    for s in shaders {
        let (a, model) = (&s.analysis, &s.gpu.model);
        if !out.is_empty() {
            out.push('\n');
        }
        out += &table::table(&s.file, a, model, paint);
        if args.annotate {
            let mut sources = crate::annotate::texts(module, &input.file, &args.source);
            if s.compiled {
                languages::own(&mut sources, &input.file, &String::from_utf8_lossy(&input.contents));
            }
            let text = table::annotated(a, &sources, module, entry_of(&Some(a.entry.clone())), model, paint);
            out += &format!("\n{}", text.map_err(|e| Error::file(&input.file, e))?);
        }
    }
    Ok(out)
}

/// What is known of all inputs: shaders, and the tables of those that are shown so.
fn shaders<'a>(
    args: &Args,
    gpus: &'a [Gpu],
    with_tables: bool,
) -> Result<(Vec<Shader<'a>>, Vec<String>, Vec<Error>)> {
    let (mut all, mut texts, mut errors) = (vec![], vec![], vec![]);
    for input in inputs::inputs(&args.files)? {
        let mut look = || {
            let (module, compiled) = module(args, &input)?;
            let mut of_input = vec![];
            for gpu in gpus {
                let list = analyses(args, &input, &module, &gpu.model)?;
                of_input.extend(list.into_iter().map(|analysis| Shader {
                    file: input.file.clone(),
                    compiled,
                    analysis,
                    gpu,
                }));
            }
            if with_tables && !of_input.is_empty() {
                texts.push(tables(args, &input, &module, &of_input)?);
            }
            all.append(&mut of_input);
            Ok(())
        };
        errors.extend(look().err());
    }
    Ok((all, texts, errors))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::file(path, e))
}

/// Compares with the golden costs, and writes what is asked for; how many shaders fail.
fn judged(args: &Args, path: &Path, all: &[Shader], errors: &[Error]) -> Result<usize> {
    let now = golden::of(all, path);
    let old = if args.update && !path.exists() { Golden::new() } else { golden::read(path)? };
    let is_gone = |key: &golden::Key| golden::is_gone(key, &now, path);
    let verdicts = Verdicts {
        all: golden::compare(&old, &now, args.max_increase, is_gone),
        errors: errors.iter().map(ToString::to_string).collect(),
    };
    print!("{}", verdicts.text());
    if let Some(file) = &args.markdown {
        write(file, &verdicts.markdown())?;
    }
    if let Some(file) = &args.junit {
        write(file, &verdicts.junit())?;
    }
    if args.update {
        let mut kept: Golden = old.into_iter().filter(|(key, _)| !is_gone(key)).collect();
        kept.extend(now);
        write(path, &golden::text(&kept))?;
        return Ok(0);
    }
    Ok(verdicts.failures())
}

fn told(args: &Args) -> Result<ExitCode> {
    let gpus = gpus(args)?;
    let one = gpus.len() == 1 && matches!(&args.files[..], [file] if !file.is_dir());
    let default = if one || args.annotate { Format::Text } else { Format::Lines };
    let format = args.format.unwrap_or(default);
    let (all, texts, errors) = shaders(args, &gpus, format == Format::Text)?;
    for e in &errors {
        eprintln!("tuff: {}", plain::message(&e.to_string()));
    }
    // A gate says what differs, unless it is asked for more.
    if args.golden.is_none() || args.format.is_some() || args.annotate {
        match format {
            Format::Json => println!("{}", json::report(&all)),
            Format::Text => print!("{}", texts.join("\n")),
            Format::Lines => print!("{}", table::summary(&all, Paint::new(args.color))),
        }
    }
    let failures = match &args.golden {
        Some(path) => judged(args, path, &all, &errors)?,
        None => 0,
    };
    Ok(ExitCode::from(match (errors.is_empty(), failures) {
        (false, _) => 2,
        (true, 0) => 0,
        (true, _) => 1,
    }))
}

/// The process's exit code: see the help.
pub fn run(args: &Args) -> ExitCode {
    told(args).unwrap_or_else(|e| {
        eprintln!("tuff: {}", plain::message(&e.to_string()));
        ExitCode::from(2)
    })
}

#[cfg(test)]
mod tests;
