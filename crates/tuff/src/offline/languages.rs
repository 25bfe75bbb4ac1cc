//! Shading languages to SPIR-V with line numbers, by whichever compiler is installed.

use super::{gl, names};
use client::{Error, Result};
use shader::instrument::Source;
use shader::ir::Stage;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How SPIR-V begins.
pub const SPIRV: [u8; 4] = [0x03, 0x02, 0x23, 0x07];

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Language {
    /// For Vulkan, OpenGL or OpenGL ES.
    Glsl,
    Hlsl,
    Wgsl,
    Slang,
}

impl Language {
    /// Compilers in the order in which they are looked for.
    pub fn compilers(self) -> &'static [&'static str] {
        match self {
            Language::Glsl | Language::Hlsl => &["glslangValidator", "glslang", "glslc"],
            Language::Wgsl => &["naga"],
            Language::Slang => &["slangc"],
        }
    }
    fn name(self) -> &'static str {
        match self {
            Language::Glsl => "GLSL",
            Language::Hlsl => "HLSL",
            Language::Wgsl => "WGSL",
            Language::Slang => "Slang",
        }
    }
    fn extension(self) -> &'static str {
        match self {
            Language::Glsl => "glsl",
            Language::Hlsl => "hlsl",
            Language::Wgsl => "wgsl",
            Language::Slang => "slang",
        }
    }
    /// A module of it has one entry point, whose stage its text does not say.
    pub fn needs_stage(self) -> bool {
        matches!(self, Language::Glsl | Language::Hlsl)
    }
}

/// What a file's name tells: `lit.frag`, `lit.frag.glsl`, `lit.ps.hlsl`, `lit.wgsl`.
pub fn by_name(file: &Path) -> (Option<Language>, Option<Stage>) {
    let extension = |p: &Path| p.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let Some(last) = extension(file) else { return (None, None) };
    if let Ok(stage) = super::stage(&last) {
        return (Some(Language::Glsl), Some(stage));
    }
    let all = [Language::Glsl, Language::Hlsl, Language::Wgsl, Language::Slang];
    let language = all.into_iter().find(|l| l.extension() == last);
    let inner = language.and_then(|_| extension(&file.with_extension("")));
    (language, inner.and_then(|e| super::stage(&e).ok().or_else(|| direct3d(&e))))
}

/// A stage by the prefix of its profile in Direct3D.
fn direct3d(profile: &str) -> Option<Stage> {
    Some(match profile {
        "vs" => Stage::Vertex,
        "hs" => Stage::TessControl,
        "ds" => Stage::TessEval,
        "gs" => Stage::Geometry,
        "as" => Stage::Task,
        "ms" => Stage::Mesh,
        "ps" => Stage::Fragment,
        "cs" => Stage::Compute,
        _ => return None,
    })
}

/// What is to be compiled, and how.
pub struct Request<'a> {
    /// The file, or a name for what came from standard input.
    pub file: &'a Path,
    pub text: &'a str,
    /// The text is the file's: a compiler can read it there.
    pub on_disk: bool,
    pub language: Language,
    pub stage: Option<Stage>,
    pub entry: Option<&'a str>,
    /// `NAME` or `NAME=VALUE`.
    pub defines: &'a [String],
    pub includes: &'a [PathBuf],
    /// A command with `{in}`, `{out}`, `{stage}` and `{entry}` in place of the language's compiler.
    pub compiler: Option<&'a str>,
}

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file())
}

/// The SPIR-V's bytes.
pub fn compile(request: &Request) -> Result<Vec<u8>> {
    let say = |why: String| Error::file(request.file, why);
    // Threads compile too, each in a folder of its own.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let folder = client::scratch(&format!("shader-{}", NUMBER.fetch_add(1, Ordering::Relaxed)))?;
    std::fs::create_dir_all(&folder).map_err(|e| Error::file(&folder, e))?;
    let result = if let Some(line) = request.compiler {
        let file = placed(request, &folder, None)?;
        call(request, custom(line, request, &file, &folder)?, &file, &folder)
    } else {
        let all = request.language.compilers();
        let compiler = all.iter().find_map(|name| found(name)).ok_or_else(|| {
            let language = request.language.name();
            say(format!(
                "no compiler of {language} is installed: {} (or name one with --compiler)",
                all.join(" or ")
            ))
        })?;
        built_in(request, &compiler, &folder)
    };
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// What a compiler reads.
struct Placed {
    name: PathBuf,
    /// It is a copy in the folder of the output.
    copied: bool,
}

/// Where a compiler finds the text: the file itself, or a copy of that name in `folder`, where the compiler then runs. The module names
/// the copy, so its folder must not be in the name.
fn placed(request: &Request, folder: &Path, text: Option<&str>) -> Result<Placed> {
    if text.is_none() && request.on_disk {
        return Ok(Placed { name: request.file.into(), copied: false });
    }
    let path = folder.join(request.file.file_name().unwrap_or("shader".as_ref()));
    std::fs::write(&path, text.unwrap_or(request.text)).map_err(|e| Error::file(&path, e))?;
    Ok(Placed { name: path.file_name().unwrap_or_default().into(), copied: true })
}

/// The rules of an API for GLSL.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Vulkan,
    /// Uniforms outside of blocks, and without bindings and locations.
    OpenGl,
}

fn built_in(request: &Request, compiler: &Path, folder: &Path) -> Result<Vec<u8>> {
    if request.language != Language::Glsl {
        let file = placed(request, folder, None)?;
        return call(request, command(request, compiler, &file, folder, Rules::Vulkan), &file, folder);
    }
    // Text that was written for OpenGL alone; else what Vulkan's rules refuse may still be OpenGL's.
    if let Some(text) = gl::modern(request.text, request.stage) {
        let file = placed(request, folder, Some(&text))?;
        return call(request, command(request, compiler, &file, folder, Rules::OpenGl), &file, folder);
    }
    let file = placed(request, folder, None)?;
    let by = |rules| call(request, command(request, compiler, &file, folder, rules), &file, folder);
    by(Rules::Vulkan).or_else(|first| by(Rules::OpenGl).map_err(|_| first))
}

fn command(request: &Request, compiler: &Path, file: &Placed, folder: &Path, rules: Rules) -> Command {
    let mut command = Command::new(compiler);
    let stage = request.stage.map_or("", |s| names(s).0);
    let hlsl = request.language == Language::Hlsl;
    match compiler.file_name().and_then(|n| n.to_str()) {
        Some("naga") => {
            // WGSL has neither macros nor files that it includes.
            command.arg("-g").arg(&file.name).arg(out(folder));
            return command;
        }
        Some("slangc") => {
            command.args(["-target", "spirv", "-g2", "-fvk-use-entrypoint-name"]);
            if let (Some(entry), false) = (request.entry, stage.is_empty()) {
                command.args(["-entry", entry, "-stage", slang(request.stage)]);
            }
        }
        Some("glslc") => {
            command.args(["-g", "--target-env=vulkan1.3"]).arg(format!("-fshader-stage={stage}"));
            if hlsl {
                command
                    .args(["-x", "hlsl"])
                    .arg(format!("-fentry-point={}", request.entry.unwrap_or("main")));
            }
            if rules == Rules::OpenGl {
                command.args(["-fauto-map-locations", "-fauto-bind-uniforms"]);
            }
        }
        _ => {
            command.args(["-g", "-V", "--target-env", "vulkan1.3", "-S", stage]);
            if hlsl {
                command.args(["-D", "-e", request.entry.unwrap_or("main")]);
            }
            if rules == Rules::OpenGl {
                command.args(["-R", "--auto-map-bindings", "--auto-map-locations"]);
            }
        }
    }
    command.args(request.defines.iter().map(|d| format!("-D{d}")));
    let include = |folder: &Path| {
        let mut option = std::ffi::OsString::from("-I");
        option.push(std::path::absolute(folder).unwrap_or_else(|_| folder.into()));
        option
    };
    command.args(request.includes.iter().map(|i| include(i)));
    // A copy is elsewhere, and what it includes is beside the file.
    if file.copied {
        command.arg(include(
            request.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(".".as_ref()),
        ));
    }
    command.arg(&file.name).arg("-o").arg(out(folder));
    command
}

/// A stage's name for slangc.
fn slang(stage: Option<Stage>) -> &'static str {
    match stage {
        Some(Stage::TessControl) => "hull",
        Some(Stage::TessEval) => "domain",
        Some(Stage::Task) => "amplification",
        Some(Stage::RayGen) => "raygeneration",
        Some(Stage::AnyHit) => "anyhit",
        Some(Stage::ClosestHit) => "closesthit",
        Some(other) => names(other).1,
        None => "compute",
    }
}

fn out(folder: &Path) -> PathBuf {
    folder.join("out.spv")
}

/// The command of `--compiler`: words apart by spaces, of which some are replaced.
fn custom(line: &str, request: &Request, file: &Placed, folder: &Path) -> Result<Command> {
    let mut words = line.split_whitespace();
    let program = words.next().ok_or_else(|| Error("--compiler names no program".into()))?;
    if !line.contains("{in}") || !line.contains("{out}") {
        return Err(Error("--compiler needs {in} and {out} in its command".into()));
    }
    let (out, stage) = (out(folder), request.stage.map_or("", |s| names(s).0));
    let word = |w: &str| {
        let path = |p: &Path| p.display().to_string();
        let filled = w.replace("{in}", &path(&file.name)).replace("{out}", &path(&out));
        filled.replace("{stage}", stage).replace("{entry}", request.entry.unwrap_or("main"))
    };
    let mut command = Command::new(program);
    command.args(words.map(word));
    Ok(command)
}

/// Runs a compiler, and reads what it has written.
fn call(request: &Request, mut command: Command, file: &Placed, folder: &Path) -> Result<Vec<u8>> {
    let compiler = PathBuf::from(command.get_program());
    let out = out(folder);
    let _ = std::fs::remove_file(&out);
    if file.copied {
        command.current_dir(folder);
    }
    let output = command.output().map_err(|e| Error::file(&compiler, e))?;
    match std::fs::read(&out) {
        Ok(bytes) if output.status.success() && bytes.starts_with(&SPIRV) => Ok(bytes),
        _ => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).trim().to_string();
            let why = if said.is_empty() { output.status.to_string() } else { said };
            Err(Error(format!("{}: {} says\n{why}", request.file.display(), compiler.display())))
        }
    }
}

/// The text itself in place of the copy that glslang keeps, which begins with its own comments.
pub fn own(sources: &mut [Source], file: &Path, text: &str) {
    for s in sources.iter_mut().filter(|s| Path::new(&s.file).file_name() == file.file_name()) {
        s.text = text.into();
    }
}
