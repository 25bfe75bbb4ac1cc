//! `tuff debug`: runs a program, records what a shader does in one invocation's warp, and steps through it, forwards and backwards.

mod clean;
mod constants;
mod dap;
mod list;
mod locals;
mod module;
mod scopes;
mod session;
mod source;
mod state;
mod text;
mod trace;
mod types;
mod variables;

use crate::run;
use client::{Error, Result};
use session::{Session, View};
use shader::notes::File;
use state::State;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trace::Trace;

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("front").args(["print", "json", "list", "dap"]))]
#[command(after_help = "Examples:
  tuff debug --thread 3,0,0 -- ./program                     a thread of a dispatch; then n, s, rn, p NAME, … (h: help)
  tuff debug --pixel 160,120 --list -- vkcube --c 3          the draws that shade the pixel
  tuff debug --pixel 160,120 --draw 0 --print -- vkcube --c 3
  tuff debug --vertex 2 -o cube.tuffdbg -- vkcube --c 3      keeps the recording
  tuff debug --trace cube.tuffdbg --json                     … and reads it
  tuff debug --dap                                           a server of the Debug Adapter Protocol, for editors

More: docs/debug.md.")]
pub struct Args {
    /// The fragments of this pixel of the framebuffer (column,row).
    #[arg(long, value_name = "X,Y", group = "aim")]
    pixel: Option<String>,
    /// This vertex (VertexIndex).
    #[arg(long, value_name = "V", group = "aim")]
    vertex: Option<u32>,
    /// … of this instance (InstanceIndex).
    #[arg(long, value_name = "I", requires = "vertex", default_value_t = 0)]
    instance: u32,
    /// This thread of a dispatch (GlobalInvocationId). The default is 0,0,0.
    #[arg(long, value_name = "X,Y,Z", group = "aim")]
    thread: Option<String>,
    /// Only in this frame, counted from 1 [default: the first one that has the invocation].
    #[arg(long, value_name = "F")]
    frame: Option<u64>,
    /// Only in this draw or dispatch of the frame, counted from 0 (--list shows them).
    #[arg(long, value_name = "N")]
    draw: Option<u32>,
    /// Only in commands with this label (VK_EXT_debug_utils).
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// Only in shaders or pipelines of this name, or with this hash.
    #[arg(long, value_name = "NAME")]
    shader: Option<String>,
    /// Of those that are left, this one, counted from 0 [default: the last].
    #[arg(long, value_name = "K")]
    nth: Option<usize>,
    /// MiB of steps that are recorded at most.
    #[arg(long, value_name = "MIB", default_value_t = settings::LIMIT,
          value_parser = clap::value_parser!(u32).range(1..=settings::MAX_LIMIT as i64))]
    limit: u32,
    /// Print the invocations that were recorded, and no more.
    #[arg(long)]
    list: bool,
    /// Print all steps with their values.
    #[arg(long)]
    print: bool,
    /// Print all steps as JSON: an object a line.
    #[arg(long)]
    json: bool,
    /// With --print: all lanes of the warp.
    #[arg(long, requires = "print")]
    lanes: bool,
    /// Step through SPIR-V, though the shader has line information.
    #[arg(long)]
    spirv: bool,
    /// Serve the Debug Adapter Protocol on stdin and stdout. The client says what is debugged.
    #[arg(long)]
    dap: bool,
    /// With --dap: on this port of the local machine.
    #[arg(long, value_name = "PORT", requires = "dap")]
    port: Option<u16>,
    /// Read this recording; no program runs.
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    trace: Option<PathBuf>,
    /// Keep the recording in this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

/// What is debugged.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    pub pixel: Option<Vec<u32>>,
    pub vertex: Option<u32>,
    pub instance: u32,
    pub thread: Option<Vec<u32>>,
    pub frame: Option<u64>,
    pub draw: Option<u32>,
    pub label: Option<String>,
    pub shader: Option<String>,
    pub nth: Option<usize>,
    pub limit: Option<u32>,
    /// A recording.
    pub trace: Option<PathBuf>,
    pub output: Option<PathBuf>,
    pub program: String,
    pub args: Vec<String>,
    pub cwd: Option<PathBuf>,
    pub env: std::collections::BTreeMap<String, String>,
    /// `source` or `spirv`.
    pub view: Option<String>,
    pub stop_on_entry: Option<bool>,
}

fn numbers(text: &Option<String>) -> Result<Option<Vec<u32>>> {
    let Some(text) = text else { return Ok(None) };
    let all: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    all.map(Some).ok_or_else(|| Error(format!("'{text}' is no list of numbers")))
}

impl Args {
    fn request(&self) -> Result<Request> {
        Ok(Request {
            pixel: numbers(&self.pixel)?,
            vertex: self.vertex,
            instance: self.instance,
            thread: numbers(&self.thread)?,
            frame: self.frame,
            draw: self.draw,
            label: self.label.clone(),
            shader: self.shader.clone(),
            nth: self.nth,
            limit: Some(self.limit),
            trace: self.trace.clone(),
            output: self.output.clone(),
            program: self.program.first().cloned().unwrap_or_default(),
            args: self.program.iter().skip(1).cloned().collect(),
            view: self.spirv.then(|| "spirv".into()),
            ..Request::default()
        })
    }
}

impl Request {
    /// The value of TUFF_DEBUG_AT.
    fn aim(&self) -> Result<String> {
        let list = |all: &[u32], n: usize, what: &str| {
            // The rest of a thread's number is 0.
            let all: Vec<u32> =
                all.iter().copied().chain(std::iter::repeat_n(0, n.saturating_sub(all.len()))).collect();
            let fits = all.len() == n;
            let text = all.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            if fits { Ok(format!("{what}:{text}")) } else { Err(Error(format!("a {what} has {n} numbers"))) }
        };
        let mut aim = match (&self.pixel, self.vertex, &self.thread) {
            (Some(at), ..) if at.len() == 2 => list(at, 2, "pixel")?,
            (Some(_), ..) => return Err(Error("a pixel has 2 numbers".into())),
            (_, Some(v), _) => list(&[v, self.instance], 2, "vertex")?,
            (.., thread) => list(thread.as_deref().unwrap_or(&[]), 3, "thread")?,
        };
        let mut add = |word: &str, n: Option<String>| {
            if let Some(n) = n {
                aim += &format!(";{word}:{n}");
            }
        };
        add("frame", self.frame.map(|n| n.to_string()));
        add("draw", self.draw.map(|n| n.to_string()));
        add("limit", self.limit.map(|n| n.clamp(1, settings::MAX_LIMIT).to_string()));
        Ok(aim + ";end")
    }

    /// The recordings of the program's processes, or the file that is named.
    pub fn files(&self) -> Result<Vec<File>> {
        if let Some(path) = &self.trace {
            return Ok(vec![read(path)?]);
        }
        if self.program.is_empty() {
            return Err(Error("there is no program: tuff debug … -- PROGRAM".into()));
        }
        let program: Vec<String> = std::iter::once(&self.program).chain(&self.args).cloned().collect();
        let left = run::debugged(&program, self.aim()?, self.cwd.as_deref(), &self.env)?;
        let files: Vec<File> = left.files.iter().map(|f| read(f)).collect::<Result<_>>()?;
        if let Some(to) = &self.output {
            let best = left.files.iter().zip(&files).max_by_key(|f| f.1.warps.len());
            if let Some((from, _)) = best {
                std::fs::copy(from, to).map_err(|e| Error::file(to, e))?;
            }
        }
        Ok(files)
    }

    /// The invocation that is debugged.
    pub fn session(&self, files: &[File]) -> Result<Session> {
        let all = list::chosen(files, self);
        let chosen = match self.nth {
            Some(k) => all.get(k),
            None => all.last(),
        };
        let (file, warp) = chosen.ok_or_else(|| Error(list::nothing(files, self)))?;
        let trace = Trace::new(file, warp).map_err(|e| Error(format!("the recording is damaged: {e}")))?;
        let mut session = Session::new(State::new(trace));
        match self.view.as_deref() {
            Some("spirv") => session.view = View::Spirv,
            None | Some("source") => {}
            Some(other) => return Err(Error(format!("a view is source or spirv, not {other}"))),
        }
        session.rewind();
        Ok(session)
    }
}

/// Bytes of a recording: what the greatest limit may come to, and its shaders.
const MAX_FILE: u64 = (settings::MAX_LIMIT as u64 + 1024) << 20;

fn read(path: &Path) -> Result<File> {
    let size = std::fs::metadata(path).map_err(|e| Error::file(path, e))?.len();
    if size > MAX_FILE {
        return Err(Error::file(path, "it is too large for a recording"));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::file(path, e))?;
    File::from_bytes(&bytes)
        .ok_or_else(|| Error::file(path, "it is no recording of `tuff debug`, or of another version"))
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if args.dap {
        return dap::serve(args.port);
    }
    let request = args.request()?;
    let files = request.files()?;
    for problem in files.iter().flat_map(|f| &f.made.problems) {
        eprintln!("tuff: {}", plain::line(problem));
    }
    let out = std::io::stdout().lock();
    let mut out = clean::Clean::new(BufWriter::new(out));
    let done = if args.list {
        list::print(&files, &request, &mut out)
    } else {
        let mut session = request.session(&files)?;
        if args.json {
            text::json(&session, &mut out)
        } else if args.print {
            text::print(&session, args.lanes, &mut out)
        } else {
            let input = std::io::stdin();
            let prompt = input.is_terminal();
            text::interactive(&mut session, &mut input.lock(), &mut out, prompt)
        }
    };
    match done.and_then(|()| out.flush()) {
        // Who reads may have enough (`| head`).
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error(e.to_string())),
        _ => Ok(ExitCode::SUCCESS),
    }
}
