//! The driver's settings: environment variables, read and checked once, by one table that README's is written from.
//!
//! What a variable says wrongly counts for nothing: its default holds, and `icd` tells [`problems`] when an instance is
//! made. An empty variable is one that is not set.
//!
//! A program that has more rights than the user who started it (set-uid, set-gid, capabilities: `AT_SECURE`, getauxval(3)) does not take the
//! names of files from them: it would read and write for them what they may not.

mod aim;
mod interfaces;
mod kind;
mod table;

pub use aim::{Aim, Aims, Invocation, LIMIT, MAX_LIMIT};
pub use interfaces::{Interfaces, KEYS, Lock, Parts, Storage};
pub use kind::{Kind, Number, OneOf, Place, Ranges, Text, Version};
pub use table::{README_BEGIN, README_END, Row, readme_with_table, rows};

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

/// A variable: its name, what it may say, and what README says of it.
pub struct Variable<K> {
    pub name: &'static str,
    pub kind: K,
    pub meaning: &'static str,
}

/// Most worker threads that there can be.
pub const MAX_THREADS: usize = 256;

pub const THREADS: Variable<Number> = Variable {
    name: "TUFF_THREADS",
    kind: Number { form: "n", least: 1, most: MAX_THREADS as u64 },
    meaning: "number of worker threads, at most 256; default: one per CPU",
};
pub const LOG: Variable<OneOf<Log>> = Variable {
    name: "TUFF_LOG",
    kind: OneOf(&[("off", Log::Off), ("error", Log::Error), ("warn", Log::Warn), ("info", Log::Info)]),
    meaning: "the driver's own messages on stderr; default: warn",
};
pub const WATCHDOG_MS: Variable<Number> = Variable {
    name: "TUFF_WATCHDOG_MS",
    kind: Number { form: "n", least: 0, most: u64::MAX },
    meaning: "time limit in milliseconds for one wave of a shader; a submission may take 30 times as long. Exceeding a \
              limit loses the device (VK_ERROR_DEVICE_LOST). Default: 20000; 0: no limit",
};
pub const SIMD: Variable<OneOf<simd::Name>> = Variable {
    name: "TUFF_SIMD",
    kind: OneOf(simd::NAMES),
    meaning: "SIMD level of the kernels; default: the best that the CPU supports. Results do not depend on it",
};
pub const GPU: Variable<Text> = Variable {
    name: "TUFF_GPU",
    kind: Text("g720|g610|g57|g77|g78|g710|g715|g725|small|big|file"),
    meaning: "the modelled GPU (`crates/counters/models`); default: g720",
};
pub const RAYS: Variable<OneOf<bool>> = Variable {
    name: "TUFF_RAYS",
    kind: OneOf(&[("1", true)]),
    meaning: "reports the ray tracing extensions also if the modelled GPU has no ray tracing unit ([docs/model.md](docs/model.md#rays))",
};
pub const DEVICE_TYPE: Variable<OneOf<DeviceType>> = Variable {
    name: "TUFF_DEVICE_TYPE",
    kind: OneOf(&[
        ("cpu", DeviceType::Cpu),
        ("integrated", DeviceType::Integrated),
        ("discrete", DeviceType::Discrete),
        ("virtual", DeviceType::Virtual),
    ]),
    meaning: "the device type that Tuff reports, for programs that ignore CPU devices (zink, and Chromium's WebGPU, which \
              prefers SwiftShader); default: cpu",
};
pub const CONFORMANCE: Variable<Version> = Variable {
    name: "TUFF_CONFORMANCE",
    kind: Version("1.4.x.y"),
    meaning: "the CTS version that Tuff reports as passed (conformanceVersion), for programs that skip drivers without one \
              (all programs that use wgpu); default: 0.0.0.0, because Tuff has not been submitted to Khronos. `tuff run` \
              sets it ([docs/programs.md](docs/programs.md))",
};
pub const COUNTERS: Variable<Place> = Variable {
    name: "TUFF_COUNTERS",
    kind: Place("file"),
    meaning: "writes the cost of every workload as JSON; `%p` in this path and the next two stands for the process ID",
};
pub const PROCESSES: Variable<Place> = Variable {
    name: "TUFF_PROCESSES",
    kind: Place("folder"),
    meaning: "folder where each process that creates a device leaves a file named after its process ID; `tuff run` sets it",
};
pub const LISTEN: Variable<Place> = Variable {
    name: "TUFF_LISTEN",
    kind: Place("folder"),
    meaning: "makes a socket named after the process ID in this folder, at which other processes read counters and workloads while \
              the program runs; `tuff top` sets it ([docs/channel.md](docs/channel.md#from-another-process))",
};
pub const CAPTURE: Variable<Place> = Variable {
    name: "TUFF_CAPTURE",
    kind: Place("folder"),
    meaning: "writes everything that `tuff report` shows: each run of every workload with its cost, jobs by queue, regions, \
              pictures, shaders ([docs/capture.md](docs/capture.md))",
};
pub const CAPTURE_FRAMES: Variable<Ranges> = Variable {
    name: "TUFF_CAPTURE_FRAMES",
    kind: Ranges(0),
    meaning: "the frames whose work the files of `TUFF_COUNTERS`, `TUFF_CAPTURE` and `TUFF_INSTRUMENT` have, by the numbers that they give \
              ([docs/capture.md](docs/capture.md)); default: all",
};
pub const INSTRUMENT: Variable<Place> = Variable {
    name: "TUFF_INSTRUMENT",
    kind: Place("folder"),
    meaning: "instruments every pipeline and writes the cost of each basic block \
              ([docs/instrumentation.md](docs/instrumentation.md))",
};
pub const SANITIZE: Variable<Place> = Variable {
    name: "TUFF_SANITIZE",
    kind: Place("file"),
    meaning: "checks every access of shaders and writes what is wrong with them as JSON; `tuff sanitize` sets it \
              ([docs/sanitize.md](docs/sanitize.md))",
};
pub const DEBUG: Variable<Place> = Variable {
    name: "TUFF_DEBUG",
    kind: Place("file"),
    meaning: "records what each instruction of a shader does in the warp of the invocation that `TUFF_DEBUG_AT` names; `tuff debug` sets \
              it ([docs/debug.md](docs/debug.md))",
};
pub const DEBUG_AT: Variable<Aims> = Variable {
    name: "TUFF_DEBUG_AT",
    kind: Aims,
    meaning: "the invocation that `TUFF_DEBUG` records ([docs/debug.md](docs/debug.md)); default: thread:0,0,0",
};
pub const FRAMES: Variable<Place> = Variable {
    name: "TUFF_FRAMES",
    kind: Place("folder"),
    meaning: "writes each presented frame as a file (PPM) of its number; `tuff frames` sets it ([docs/pictures.md](docs/pictures.md))",
};
pub const FRAME_NUMBERS: Variable<Ranges> = Variable {
    name: "TUFF_FRAME_NUMBERS",
    kind: Ranges(1),
    meaning: "the frames that `TUFF_FRAMES` writes, counted from 1; default: all",
};
pub const FRAME: Variable<Ranges> = Variable {
    name: "TUFF_FRAME",
    kind: Ranges(0),
    meaning: "the frames that a capture (`TUFF_CAPTURE`) records draw by draw, by their numbers there; of a program that presents \
              nothing, submissions, counted from 0; `tuff run --frame` sets it ([docs/frame.md](docs/frame.md))",
};
pub const FRAME_MIB: Variable<Number> = Variable {
    name: "TUFF_FRAME_MIB",
    kind: Number { form: "n", least: 1, most: 1 << 20 },
    meaning: "what such records may take on the disk, in MiB; default: 2048. What is beyond it is left out",
};
pub const UNDEFINED: Variable<OneOf<Undefined>> = Variable {
    name: "TUFF_UNDEFINED",
    kind: OneOf(&[("keep", Undefined::Keep), ("poison", Undefined::Poison)]),
    meaning: "what memory, attachments and variables hold that a program has not written: zeros or what was there before, or \
              a pattern that shows ([docs/sanitize.md](docs/sanitize.md#poison)); default: keep, and poison with \
              TUFF_SANITIZE",
};
pub const SHADER_DUMP: Variable<Place> = Variable {
    name: "TUFF_SHADER_DUMP",
    kind: Place("folder"),
    meaning: "writes each shader's IR, as built and after each pass, and its bytecode, as files",
};
pub const JIT_DUMP: Variable<Place> = Variable {
    name: "TUFF_JIT_DUMP",
    kind: Place("folder"),
    meaning: "writes a jitdump of the shaders' machine code, so that `perf` can name it \
              ([docs/contributing.md](docs/contributing.md#compiled-code))",
};
pub const CACHE_KEY: Variable<Place> = Variable {
    name: "TUFF_CACHE_KEY",
    kind: Place("file"),
    meaning: "the secret that signs pipeline caches; it is created if it does not exist. Caches signed with another key are \
              treated as empty. Default: `tuff/cache.key` in `$XDG_STATE_HOME` or `~/.local/state`",
};
pub const REFRESH: Variable<Number> = Variable {
    name: "TUFF_REFRESH",
    kind: Number { form: "hz", least: 0, most: 1_000_000 },
    meaning: "refresh rate of windows that present with FIFO or mailbox; default: the screen's rate, or 60; 0: presents do \
              not wait",
};

pub const TRACE: Variable<OneOf<Trace>> = Variable {
    name: "TUFF_TRACE",
    kind: OneOf(&[("all", Trace::All)]),
    meaning: "sends every access through the modelled caches, one after the other, instead of a sample of them. Slow; it is \
              the reference for the samples ([docs/model.md](docs/model.md))",
};

pub const JIT: Variable<OneOf<Jit>> = Variable {
    name: "TUFF_JIT",
    kind: OneOf(&[("0", Jit::Off), ("1", Jit::On), ("always", Jit::Always)]),
    meaning: "when to compile a shader's straight-line code and innermost loops: never, after they have run for a while, or \
              before they first run; default: 1. Results do not depend on it",
};

pub const INTERFACES: Variable<Parts> = Variable {
    name: "TUFF_INTERFACES",
    kind: Parts,
    meaning: "imitates what hardware drivers do and Tuff does not, to test tools that read counters: queries with several \
              passes, a profiling lock held by another process, other storage types and orders of counters \
              ([docs/performance-query.md](docs/performance-query.md#as-hardware-has-it))",
};

/// VkPhysicalDeviceType's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceType {
    Integrated = 1,
    Discrete = 2,
    Virtual = 3,
    Cpu = 4,
}

/// What undefined contents are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    Keep,
    Poison,
}

/// When shaders are compiled to machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jit {
    Off,
    On,
    Always,
}

/// What goes through the modelled caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trace {
    All,
}

/// What the driver says of its own accord, and all that matters more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Log {
    Off,
    Error,
    Warn,
    Info,
}

/// What all variables say. `None`: the reader of the field knows the default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub threads: Option<NonZeroUsize>,
    pub log: Log,
    /// Time for one command.
    pub watchdog: Duration,
    /// The widest kernels that may run.
    pub simd: Option<simd::Name>,
    pub gpu: Option<String>,
    /// Ray tracing without a ray tracing unit.
    pub rays: bool,
    pub device_type: DeviceType,
    /// Major, minor, subminor, patch; zeros: none.
    pub conformance: [u8; 4],
    pub counters: Option<PathBuf>,
    /// Where processes leave a note of themselves.
    pub processes: Option<PathBuf>,
    pub capture: Option<PathBuf>,
    /// Where sockets for readers in other processes are.
    pub listen: Option<PathBuf>,
    pub instrument: Option<PathBuf>,
    /// The file for what sanitised shaders do wrong.
    pub sanitize: Option<PathBuf>,
    /// The file for what debugged shaders do, and of which invocation it tells.
    pub debug: Option<PathBuf>,
    pub debug_at: Aim,
    /// Frames that files of counters have; empty: all.
    pub capture_frames: Vec<RangeInclusive<u64>>,
    /// The folder for presented frames, and their numbers; empty: all.
    pub frames: Option<PathBuf>,
    pub frame_numbers: Vec<RangeInclusive<u64>>,
    /// Frames that a capture records draw by draw; empty: none.
    pub frame: Vec<RangeInclusive<u64>>,
    /// Bytes that they may take.
    pub frame_bytes: u64,
    /// Poison while shaders are sanitised, keep otherwise.
    pub undefined: Option<Undefined>,
    pub shader_dump: Option<PathBuf>,
    pub jit_dump: Option<PathBuf>,
    pub cache_key: Option<PathBuf>,
    /// Pictures a second; 0: nobody waits.
    pub refresh: Option<u32>,
    /// Not samples.
    pub trace: Option<Trace>,
    pub jit: Jit,
    pub interfaces: Interfaces,
}

static READ: LazyLock<(Settings, Vec<String>)> =
    LazyLock::new(|| Settings::read(|name| std::env::var_os(name), files::is_secure()));

/// The SIMD level of the process: the widest of this CPU that `TUFF_SIMD` permits.
#[inline]
pub fn level() -> simd::Level {
    static LEVEL: LazyLock<simd::Level> = LazyLock::new(|| simd::Level::widest(get().simd));
    *LEVEL
}

/// Whether this CPU lacks the level that `TUFF_SIMD` names.
pub fn lacks_level() -> bool {
    get().simd.is_some_and(|asked| level().name() < asked)
}

/// The process's settings, as they were when somebody first asked.
pub fn get() -> &'static Settings {
    &READ.0
}

/// Where this user's programs keep what should last, by the XDG base directory specification; `None` for a user without a
/// home, and where the environment may not say (the module's text).
pub fn state_folder() -> Option<PathBuf> {
    state_folder_of(|name| std::env::var_os(name), files::is_secure())
}

fn state_folder_of(environment: impl Fn(&str) -> Option<OsString>, secure: bool) -> Option<PathBuf> {
    if secure {
        return None;
    }
    let absolute = |name| environment(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))
}

/// What is wrong with the variables: a line for each that says something else than it may.
pub fn problems() -> &'static [String] {
    &READ.1
}

/// Reads variables, and gathers what is wrong with them.
struct Reader<E> {
    environment: E,
    /// No names of files are taken.
    secure: bool,
    problems: Vec<String>,
}

impl<E: Fn(&str) -> Option<OsString>> Reader<E> {
    fn get<K: Kind>(&mut self, v: &Variable<K>) -> Option<K::Value> {
        let value = (self.environment)(v.name).filter(|v| !v.is_empty())?;
        let read = v.kind.read(&value);
        if self.secure && read.as_ref().is_some_and(|r| v.kind.names_file(r)) {
            let name = v.name;
            self.problems.push(format!(
                "{name} is ignored: the program has privileges that the user who set it may lack"
            ));
            return None;
        }
        if read.is_none() {
            let (value, allowed) = (value.to_string_lossy(), v.kind.allowed());
            self.problems.push(format!("{}={value}: must be {allowed}; the default is used", v.name));
        }
        read
    }
}

impl Settings {
    /// What an environment says, and what is wrong with it. `secure`: it may name no files.
    pub fn read(environment: impl Fn(&str) -> Option<OsString>, secure: bool) -> (Settings, Vec<String>) {
        let mut r = Reader { environment, secure, problems: vec![] };
        let settings = Settings {
            threads: r.get(&THREADS).and_then(|n| NonZeroUsize::new(n as usize)),
            log: r.get(&LOG).unwrap_or(Log::Warn),
            watchdog: match r.get(&WATCHDOG_MS).unwrap_or(20_000) {
                0 => Duration::MAX,
                ms => Duration::from_millis(ms),
            },
            simd: r.get(&SIMD),
            jit: r.get(&JIT).unwrap_or(Jit::On),
            gpu: r.get(&GPU),
            rays: r.get(&RAYS).unwrap_or(false),
            device_type: r.get(&DEVICE_TYPE).unwrap_or(DeviceType::Cpu),
            conformance: r.get(&CONFORMANCE).unwrap_or_default(),
            counters: r.get(&COUNTERS),
            capture: r.get(&CAPTURE),
            instrument: r.get(&INSTRUMENT),
            sanitize: r.get(&SANITIZE),
            debug: r.get(&DEBUG),
            debug_at: r.get(&DEBUG_AT).unwrap_or(Aim {
                invocation: Invocation::Thread([0; 3]),
                frame: None,
                draw: None,
                limit: LIMIT,
                ends: false,
            }),
            capture_frames: r.get(&CAPTURE_FRAMES).unwrap_or_default(),
            frames: r.get(&FRAMES),
            frame_numbers: r.get(&FRAME_NUMBERS).unwrap_or_default(),
            frame: r.get(&FRAME).unwrap_or_default(),
            frame_bytes: r.get(&FRAME_MIB).unwrap_or(2048) << 20,
            undefined: r.get(&UNDEFINED),
            processes: r.get(&PROCESSES),
            listen: r.get(&LISTEN),
            shader_dump: r.get(&SHADER_DUMP),
            jit_dump: r.get(&JIT_DUMP),
            cache_key: r.get(&CACHE_KEY),
            refresh: r.get(&REFRESH).map(|hz| hz as u32),
            trace: r.get(&TRACE),
            interfaces: r.get(&INTERFACES).unwrap_or_default(),
        };
        (settings, r.problems)
    }

    /// Whether undefined contents are to show.
    pub fn poisons(&self) -> bool {
        self.undefined.map_or(self.sanitize.is_some(), |u| u == Undefined::Poison)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::os::unix::ffi::OsStringExt;

    fn read(pairs: &[(&str, &str)]) -> (Settings, Vec<String>) {
        Settings::read(|name| pairs.iter().find(|p| p.0 == name).map(|p| p.1.into()), false)
    }

    /// Every variable of a file or folder is left out, with a line; the others count.
    #[test]
    fn a_program_with_more_rights_takes_no_files() {
        // The table says which name files: none is forgotten here.
        let secure = |name: &str, value: &str| Settings::read(|n| (n == name).then(|| value.into()), true);
        let (defaults, _) = read(&[]);
        let mut files = 0;
        for table::Row { name, form, .. } in table::rows() {
            if !["file", "folder"].iter().any(|f| form.split("\\|").any(|w| w == *f)) {
                continue;
            }
            files += 1;
            let (s, problems) = secure(name, "/etc/x");
            assert_eq!(s, defaults, "{name}");
            assert!(
                problems.len() == 1 && problems[0].starts_with(&format!("{name} is ignored")),
                "{problems:?}"
            );
        }
        assert!(files >= 8, "{files}");
        let (s, problems) = secure("TUFF_GPU", "small");
        assert_eq!((s.gpu.as_deref(), problems.len()), (Some("small"), 0), "a model of the driver's own");
        assert_eq!(secure("TUFF_GPU", "file").0.gpu, None, "which may be a file's name");
        assert_eq!(secure("TUFF_THREADS", "3").0.threads, NonZeroUsize::new(3));
        let home = |name: &str| (name == "HOME").then(|| "/home/x".into());
        assert_eq!(state_folder_of(home, false), Some("/home/x/.local/state".into()));
        assert_eq!(state_folder_of(home, true), None);
    }

    #[test]
    fn what_is_set_is_read() {
        let (s, problems) = read(&[
            ("TUFF_THREADS", "3"),
            ("TUFF_LOG", "info"),
            ("TUFF_WATCHDOG_MS", "0"),
            ("TUFF_SIMD", "avx2"),
            ("TUFF_GPU", "small"),
            ("TUFF_RAYS", "1"),
            ("TUFF_DEVICE_TYPE", "integrated"),
            ("TUFF_CONFORMANCE", "1.4.2"),
            ("TUFF_COUNTERS", "a.json"),
            ("TUFF_CAPTURE", "e"),
            ("TUFF_LISTEN", "l"),
            ("TUFF_INSTRUMENT", "b"),
            ("TUFF_SANITIZE", "s.json"),
            ("TUFF_DEBUG", "i"),
            ("TUFF_DEBUG_AT", "vertex:3,1;end"),
            ("TUFF_FRAMES", "h"),
            ("TUFF_FRAME_NUMBERS", "1,5-10"),
            ("TUFF_FRAME", "0,7-8"),
            ("TUFF_FRAME_MIB", "3"),
            ("TUFF_CAPTURE_FRAMES", "0-2"),
            ("TUFF_UNDEFINED", "keep"),
            ("TUFF_PROCESSES", "g"),
            ("TUFF_SHADER_DUMP", "c"),
            ("TUFF_JIT_DUMP", "f"),
            ("TUFF_CACHE_KEY", "d"),
            ("TUFF_REFRESH", "120"),
            ("TUFF_TRACE", "all"),
            ("TUFF_JIT", "always"),
            ("TUFF_INTERFACES", "passes=2,regions=rotated"),
        ]);
        let expected = Settings {
            threads: NonZeroUsize::new(3),
            log: Log::Info,
            watchdog: Duration::MAX,
            simd: Some(simd::Name::Avx2),
            gpu: Some("small".into()),
            rays: true,
            device_type: DeviceType::Integrated,
            conformance: [1, 4, 2, 0],
            counters: Some("a.json".into()),
            capture: Some("e".into()),
            listen: Some("l".into()),
            instrument: Some("b".into()),
            sanitize: Some("s.json".into()),
            debug: Some("i".into()),
            debug_at: Aim {
                invocation: Invocation::Vertex([3, 1]),
                frame: None,
                draw: None,
                limit: LIMIT,
                ends: true,
            },
            capture_frames: vec![0..=2],
            frames: Some("h".into()),
            frame_numbers: vec![1..=1, 5..=10],
            frame: vec![0..=0, 7..=8],
            frame_bytes: 3 << 20,
            undefined: Some(Undefined::Keep),
            processes: Some("g".into()),
            shader_dump: Some("c".into()),
            jit_dump: Some("f".into()),
            cache_key: Some("d".into()),
            refresh: Some(120),
            trace: Some(Trace::All),
            jit: Jit::Always,
            interfaces: Interfaces { passes: 2, rotated_regions: true, ..Interfaces::default() },
        };
        assert_eq!((s, problems), (expected, vec![]));
    }

    #[test]
    fn a_bad_value_is_one_line_and_the_default() {
        let (defaults, none) = read(&[]);
        assert!(none.is_empty() && defaults.log == Log::Warn && defaults.watchdog == Duration::from_secs(20));
        for (name, value, allowed) in [
            ("TUFF_THREADS", "many", "a number from 1 to 256"),
            ("TUFF_THREADS", "0", "a number from 1 to 256"),
            ("TUFF_THREADS", "257", "a number from 1 to 256"),
            ("TUFF_THREADS", "-1", "a number from 1 to 256"),
            ("TUFF_LOG", "debug", "off, error, warn or info"),
            ("TUFF_DEVICE_TYPE", "gpu", "cpu, integrated, discrete or virtual"),
            ("TUFF_WATCHDOG_MS", "20s", "a whole number"),
            ("TUFF_WATCHDOG_MS", "99999999999999999999", "a whole number"),
            ("TUFF_SIMD", "AVX2", "portable, neon, avx2 or avx512"),
            ("TUFF_CONFORMANCE", "1.4.x.y", "up to four numbers from 0 to 255, with dots between them"),
            ("TUFF_CONFORMANCE", "1.4.0.0.0", "up to four numbers from 0 to 255, with dots between them"),
            ("TUFF_CONFORMANCE", "256", "up to four numbers from 0 to 255, with dots between them"),
            ("TUFF_REFRESH", "59.94", "a number from 0 to 1000000"),
        ] {
            let (s, problems) = read(&[(name, value)]);
            assert_eq!(s, defaults, "{name}={value}");
            assert_eq!(problems, [format!("{name}={value}: must be {allowed}; the default is used")]);
        }
        let both = read(&[("TUFF_LOG", "x"), ("TUFF_REFRESH", "x"), ("TUFF_THREADS", "4")]);
        assert_eq!((both.0.threads, both.1.len()), (NonZeroUsize::new(4), 2));
    }

    #[test]
    fn paths_are_bytes_names_are_text_and_empty_is_unset() {
        let odd = OsString::from_vec(vec![b'/', 0xff]);
        let (s, problems) = Settings::read(
            |n| matches!(n, "TUFF_COUNTERS" | "TUFF_GPU" | "TUFF_LOG").then(|| odd.clone()),
            false,
        );
        assert_eq!(s.counters, Some(odd.clone().into()));
        assert_eq!((s.gpu, s.log, problems.len()), (None, Log::Warn, 2), "{problems:?}");
        assert_eq!(Settings::read(|_| Some(OsString::new()), false), read(&[]));
    }

    #[test]
    fn what_is_read_is_in_the_table() {
        let asked = RefCell::new(vec![]);
        Settings::read(
            |name| {
                asked.borrow_mut().push(name.to_string());
                None
            },
            false,
        );
        assert_eq!(asked.into_inner(), table::rows().map(|r| r.name));
    }

    /// `cargo xtask codegen` writes it.
    #[test]
    fn readme_has_the_table() {
        let readme = include_str!("../../../README.md");
        assert!(readme_with_table(readme).as_deref() == Some(readme), "run `cargo xtask codegen`");
    }
}
