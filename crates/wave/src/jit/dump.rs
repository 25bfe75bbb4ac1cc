//! `TUFF_JIT_DUMP=folder`: compiled code for `perf`, as a jitdump: `perf record -k mono`, then `perf inject --jit`. (The format is
//! `jitdump-specification.txt` of the kernel's tools/perf.)

use parking_lot::Mutex;
use shader::bytecode::Program;
use small_sort::SmallSort;
use std::fs::File;
use std::io::{Error, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Opened with the first code; none where nobody asks for it, or where it cannot be written.
static DUMP: LazyLock<Option<Mutex<Dump>>> = LazyLock::new(|| {
    let folder = settings::get().jit_dump.as_deref()?;
    match Dump::new(folder) {
        Ok(dump) => Some(Mutex::new(dump)),
        Err((path, e)) => {
            say(&path, &e);
            None
        }
    }
});

fn say(path: &Path, e: &Error) {
    let _ = writeln!(std::io::stderr(), "TUFF_JIT_DUMP: {}: {e}", path.display());
}

struct Dump {
    path: PathBuf,
    file: File,
    pieces: u64,
    failed: bool,
}

/// A function: what it is, at which op, and where in a program's code it begins.
pub type Function = (&'static str, usize, usize);

/// Tells of a program's functions, which lie in `code`.
pub fn functions(program: &Program, code: &[u8], all: impl FnOnce() -> Vec<Function>) {
    let Some(dump) = &*DUMP else { return };
    let mut all = all();
    all.small_sort_by_key(|f| f.2);
    let mut dump = dump.lock();
    for (i, (what, op, at)) in all.iter().enumerate() {
        let end = all.get(i + 1).map_or(code.len(), |f| f.2);
        let block = program.blocks.iter().rev().find(|b| b.first_op as usize <= *op);
        let label = block.map_or(0, |b| b.origin.label);
        let name = format!("tuff {:?} %{label} {what} at {}", program.stage, *op);
        dump.add(&name, &code[*at..end]);
    }
}

/// Nanoseconds of the clock that `-k mono` has samples by.
fn now() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Dump {
    fn new(folder: &Path) -> Result<Dump, (PathBuf, Error)> {
        let path = folder.join(format!("jit-{}.dump", std::process::id()));
        let open = || {
            std::fs::create_dir_all(folder)?;
            let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
            // Magic, version, the header's size, the machine (EM_X86_64, EM_AARCH64), nothing, the process, the time, flags.
            let mut header = vec![];
            let machine = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
            for x in [0x4A69_5444, 1, 40, machine, 0, std::process::id()] {
                header.extend(u32::to_le_bytes(x));
            }
            header.extend(now().to_le_bytes());
            header.extend(0u64.to_le_bytes());
            files::within_limits(|| file.write_all(&header))?;
            // An executable mapping of it is what tells `perf` that there is such a file. It stays as long as the process.
            let (prot, fd) = (libc::PROT_READ | libc::PROT_EXEC, file.as_raw_fd());
            // SAFETY: a new mapping, which nobody uses.
            let p = unsafe { libc::mmap(std::ptr::null_mut(), 4096, prot, libc::MAP_PRIVATE, fd, 0) };
            if p == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(file) }
        };
        match open() {
            Ok(file) => Ok(Dump { path, file, pieces: 0, failed: false }),
            Err(e) => Err((path, e)),
        }
    }

    /// A record of kind 0: code that is there from now on.
    fn add(&mut self, name: &str, code: &[u8]) {
        if self.failed {
            return;
        }
        let mut record = vec![];
        record.extend(0u32.to_le_bytes());
        record.extend((56 + name.len() as u32 + 1 + code.len() as u32).to_le_bytes());
        record.extend(now().to_le_bytes());
        record.extend(std::process::id().to_le_bytes());
        // SAFETY: asks for a number.
        record.extend((unsafe { libc::syscall(libc::SYS_gettid) } as u32).to_le_bytes());
        let at = code.as_ptr() as u64;
        for x in [at, at, code.len() as u64, self.pieces] {
            record.extend(x.to_le_bytes());
        }
        record.extend(name.as_bytes());
        record.push(0);
        record.extend(code);
        self.pieces += 1;
        if let Err(e) = files::within_limits(|| self.file.write_all(&record)) {
            say(&self.path, &e);
            self.failed = true;
        }
    }
}
