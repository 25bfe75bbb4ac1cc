//! Children on Tuff at every SIMD level and thread count, with shaders compiled and not.

pub mod peers;

use client::drivers::{Driver, Threads, library_of, name_of, tuff_icd};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Tuff, or what `CONFORMANCE_ICD` names.
pub fn driver() -> Driver {
    let icd = std::env::var_os("CONFORMANCE_ICD").map_or_else(tuff_icd, PathBuf::from);
    let library = library_of(&icd).unwrap();
    // A bare file name is for the dynamic loader to find.
    let built = library.exists() || library.components().count() == 1;
    assert!(built, "{} is not built: cargo build --release -p icd", library.display());
    Driver { name: name_of(&icd), icd }
}

pub fn levels() -> Vec<&'static str> {
    let mut list = vec!["portable"];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            list.push("avx2");
        }
        if is_x86_feature_detected!("avx512f") {
            list.push("avx512");
        }
    }
    #[cfg(target_arch = "aarch64")]
    list.push("neon");
    for level in ["avx2", "avx512"].iter().filter(|l| !list.contains(l)) {
        // One line for all rooms: what `wave` and `gpu` test follows the same CPU.
        not_run::say(&format!("every test by SIMD levels on {level}"), "a CPU that has it");
    }
    list
}

/// How a child runs.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub level: &'static str,
    pub threads: usize,
    /// The value of `TUFF_JIT`.
    pub jit: &'static str,
}

pub const JIT: [&str; 3] = ["1", "0", "always"];

impl Way {
    pub fn new(level: &'static str, threads: usize) -> Way {
        Way { level, threads, jit: JIT[0] }
    }

    pub fn prepare(&self, child: &mut Command) {
        driver().prepare(child, Threads::Count(self.threads));
        child.env("TUFF_SIMD", self.level).env("TUFF_JIT", self.jit);
    }
}

/// Every SIMD level with each of these numbers of threads. The values of `TUFF_JIT` take turns, so that they cost no runs.
pub fn ways(threads: &[usize]) -> Vec<Way> {
    let all = levels().into_iter().flat_map(|l| threads.iter().map(move |t| Way::new(l, *t)));
    all.zip(JIT.into_iter().cycle()).map(|(way, jit)| Way { jit, ..way }).collect()
}

/// Every SIMD level with each of these numbers of threads and each value of `TUFF_JIT`.
pub fn all_ways(threads: &[usize]) -> Vec<Way> {
    let all = levels().into_iter().flat_map(|l| threads.iter().map(move |t| Way::new(l, *t)));
    all.flat_map(|way| JIT.map(|jit| Way { jit, ..way })).collect()
}

/// Hashes by name, of one child, which must say a good one for each of `names`.
pub fn run(
    program: &str,
    names: &[&str],
    way: Way,
    without_loader: bool,
) -> Result<BTreeMap<String, String>, String> {
    let mut child = Command::new(program);
    way.prepare(&mut child);
    child.args(names);
    if without_loader {
        child.env("TUFF_NO_LOADER", "1");
    }
    let output = child.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong: Vec<_> = text.lines().filter(|l| l.starts_with("WRONG")).collect();
    if !output.status.success() || !wrong.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{way:?}: {}\n{}\n{errors}", output.status, wrong.join("\n")));
    }
    let hashes: BTreeMap<String, String> =
        text.lines().filter_map(|l| l.split_once(' ')).map(|(n, h)| (n.into(), h.into())).collect();
    let missing: Vec<_> = names.iter().copied().filter(|n| !hashes.contains_key(*n)).collect();
    if missing.is_empty() { Ok(hashes) } else { Err(format!("no result of {}", missing.join(", "))) }
}

/// What `run` gives for each of these ways; as many run side by side as the machine has cores.
pub fn everywhere<T: Send>(ways: &[Way], run: impl Fn(Way) -> T + Sync) -> Vec<(Way, T)> {
    let results: Vec<_> = ways.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            s.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Relaxed);
                    let Some(way) = ways.get(i) else { return };
                    *results[i].lock().unwrap() = Some(run(*way));
                }
            });
        }
    });
    let results = results.into_iter().map(|r| r.into_inner().unwrap().expect("each was run"));
    ways.iter().copied().zip(results).collect()
}

/// Runs on every SIMD level and these numbers of threads all give what `reference` has, or the first of them.
pub fn same_everywhere(
    reference: Option<&BTreeMap<String, String>>,
    threads: &[usize],
    run: impl Fn(Way) -> Result<BTreeMap<String, String>, String> + Sync,
) {
    let all = everywhere(&ways(threads), run);
    let reference = reference.or_else(|| all.iter().find_map(|(_, r)| r.as_ref().ok()));
    let mut wrong = Vec::new();
    for (way, result) in &all {
        match result {
            Ok(hashes) => wrong.extend(
                hashes
                    .iter()
                    .filter(|(case, hash)| reference.is_some_and(|r| r[*case] != **hash))
                    .map(|(case, _)| format!("{case} has other values with {way:?}")),
            ),
            Err(e) => wrong.push(e.clone()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
