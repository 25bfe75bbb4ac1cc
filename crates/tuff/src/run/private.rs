//! The folder of a run: what each process of a program leaves there, under a name of its own, so that processes that run side by side
//! take nothing from each other.

use super::system;
use client::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What processes that go on after the program has ended have to end in.
const STRAGGLERS: Duration = Duration::from_secs(5);

/// What a process may be asked for: a subfolder each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Counters,
    Capture,
    Shaders,
    /// Of sanitised shaders.
    Findings,
    /// What it presents.
    Frames,
    /// Of debugged shaders.
    Debug,
    /// Of the GPU Performance layer, as CSV or JSON.
    Rows {
        json: bool,
    },
}

impl Kind {
    fn folder(self) -> &'static str {
        match self {
            Kind::Counters => "counters",
            Kind::Capture => "capture",
            Kind::Shaders => "shaders",
            Kind::Findings => "findings",
            Kind::Frames => "frames",
            Kind::Debug => "debug",
            Kind::Rows { .. } => "rows",
        }
    }

    /// The variable that asks for it, and what a process's file (or folder) is called after its name.
    fn variable(self) -> (&'static str, &'static str) {
        match self {
            Kind::Counters => ("TUFF_COUNTERS", ".json"),
            Kind::Capture => ("TUFF_CAPTURE", ""),
            Kind::Shaders => ("TUFF_INSTRUMENT", ""),
            Kind::Findings => ("TUFF_SANITIZE", ".json"),
            Kind::Frames => ("TUFF_FRAMES", ""),
            Kind::Debug => ("TUFF_DEBUG", ".tuffdbg"),
            Kind::Rows { json: true } => ("TUFF_PERFORMANCE_JSON", ".json"),
            Kind::Rows { json: false } => ("TUFF_PERFORMANCE_CSV", ".csv"),
        }
    }
}

/// A process that has created a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its number; or that, a point and another one.
    pub name: String,
    /// The file name of its program.
    pub program: String,
}

impl Process {
    /// It has not ended.
    pub fn runs(&self) -> bool {
        let number = self.name.split('.').next().unwrap_or_default();
        system::runs(number)
    }
}

/// A folder that is nobody else's, gone when it is dropped.
pub struct Private {
    folder: temporary::Folder,
    kinds: Vec<Kind>,
}

const PROCESSES: &str = "processes";

impl Private {
    pub fn new(kinds: Vec<Kind>) -> Result<Private> {
        let folder = temporary::folder("tuff-run-");
        let folder = folder.map_err(|e| Error::file(&std::env::temp_dir(), e))?;
        for name in kinds.iter().map(|k| k.folder()).chain([PROCESSES]) {
            let at = folder.path().join(name);
            std::fs::create_dir(&at).map_err(|e| Error::file(&at, e))?;
        }
        Ok(Private { folder, kinds })
    }

    /// Asks the program and its children for what is wanted.
    pub fn ask(&self, command: &mut Command) {
        command.env("TUFF_PROCESSES", self.folder.path().join(PROCESSES));
        for kind in &self.kinds {
            let (variable, end) = kind.variable();
            let name = OsString::from(format!("%p{end}"));
            command.env(variable, self.folder.path().join(kind.folder()).join(name));
        }
    }

    /// Of every process that has created a device, by its name.
    pub fn processes(&self) -> Vec<Process> {
        let of = |path: PathBuf| {
            // Arguments end with a 0 each.
            let line = std::fs::read(&path).unwrap_or_default();
            let program = line.split(|b| *b == 0).next().unwrap_or_default();
            let program = String::from_utf8_lossy(program);
            let program = system::name(&program).to_string();
            Process { name: name(&path), program }
        };
        entries(&self.folder.path().join(PROCESSES)).into_iter().map(of).collect()
    }

    /// What processes have left of this kind, by their names.
    pub fn left(&self, kind: Kind) -> Vec<PathBuf> {
        entries(&self.folder.path().join(kind.folder()))
    }

    /// Where a capture lies that nobody wants to keep.
    pub fn whole(&self) -> PathBuf {
        self.folder.path().join("whole")
    }

    /// The process's file.
    fn file(&self, kind: Kind, process: &str) -> PathBuf {
        self.folder.path().join(kind.folder()).join(format!("{process}{}", kind.variable().1))
    }

    /// Whether the process has left what the driver was asked for.
    pub fn has_left(&self, process: &Process) -> bool {
        let file = |k: Kind| match k {
            Kind::Counters | Kind::Findings | Kind::Debug => Some(self.file(k, &process.name)),
            Kind::Capture => Some(self.file(k, &process.name).join(crate::report::capture::FILE)),
            // Shaders are left where some ran, frames where some were presented; rows are another's.
            Kind::Shaders | Kind::Frames | Kind::Rows { .. } => None,
        };
        self.kinds.iter().filter_map(|k| file(*k)).all(|f| f.exists())
    }

    /// Waits, not for long, for processes that the program has left behind.
    pub fn wait(&self) {
        let start = Instant::now();
        while self.asks() && start.elapsed() < STRAGGLERS && self.processes().iter().any(Process::runs) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether anything is asked for.
    pub fn asks(&self) -> bool {
        !self.kinds.is_empty()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Of a folder, in the order of their names as numbers: that of the processes, as long as the system's numbers do not begin anew.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    all.sort_by_cached_key(|p| {
        let name = name(p);
        let mut numbers = name.split('.').map_while(|n| n.parse::<u64>().ok());
        (numbers.next(), numbers.next(), name)
    });
    all
}
