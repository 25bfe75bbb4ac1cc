//! `tuff whatif` beside real runs: what a capture says of another model is what a program takes on it.

use random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const TUFF: &str = env!("CARGO_BIN_EXE_tuff");
const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../counters/models");

/// Runs `tuff` with these arguments, on a model: whether it ended well, and what it says.
fn tuff(arguments: &[&str], gpu: Option<&Path>) -> (bool, String, String) {
    let gpu = gpu.map(|gpu| ("TUFF_GPU", gpu.to_str().unwrap()));
    tuff_with(arguments, &gpu.into_iter().collect::<Vec<_>>())
}

/// The same with these settings.
fn tuff_with(arguments: &[&str], settings: &[(&str, &str)]) -> (bool, String, String) {
    let mut command = Command::new(TUFF);
    command
        .args(arguments)
        .env("TUFF_THREADS", "2")
        .env("TUFF_CONFORMANCE", "1.4.0.0")
        .env_remove("TUFF_GPU")
        .envs(settings.iter().copied());
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (done.status.success(), text(&done.stdout), text(&done.stderr))
}

fn kernel(folder: &Path, name: &str) -> String {
    json!({ "Output": { "kernel": name, "path": folder.join(name) } }).to_string()
}

/// Programs of the suite: kernels, transfers, passes that bin and draw, on one device.
fn programs(folder: &Path) -> Vec<String> {
    let picture = |p: &str| json!({ "Check": { "picture": p } }).to_string();
    let kernels = ["saxpy", "nbody", "trans"].map(|k| kernel(folder, k));
    kernels.into_iter().chain(["tri", "tex"].map(picture)).collect()
}

fn capture(folder: &Path, name: &str, programs: &[String], gpu: Option<&Path>) -> String {
    let to = folder.join(name).to_str().unwrap().to_string();
    let line = format!("printf '%s\\n' '{}' | '{TUFF}' child > /dev/null", programs.join("' '"));
    let (ended, _, said) = tuff(&["run", "--check", "--capture", &to, "--", "sh", "-c", &line], gpu);
    assert!(ended, "{said}");
    to
}

/// The whole time, from the first begin to the last end, and workloads' by name: of a real run.
fn real(capture: &str) -> (u64, BTreeMap<String, u64>) {
    let file = std::fs::read_to_string(Path::new(capture).join("capture.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let number = |v: &Value, key: &str| v[key].as_u64().unwrap();
    let (mut first, mut last, mut all) = (u64::MAX, 0, BTreeMap::new());
    for run in file["runs"].as_array().unwrap() {
        let jobs = run["jobs"].as_array().unwrap().iter();
        let spans: Vec<[u64; 2]> = jobs.map(|j| ["begin_ns", "end_ns"].map(|k| number(j, k))).collect();
        let spans = spans.iter().filter(|[b, e]| e > b);
        let (begin, end) = (spans.clone().map(|s| s[0]).min().unwrap(), spans.map(|s| s[1]).max().unwrap());
        (first, last) = (first.min(begin), last.max(end));
        let w = &file["workloads"][number(run, "workload") as usize];
        let name = format!("{} {}", w["kind"].as_str().unwrap(), w["name"].as_str().unwrap());
        *all.entry(name).or_insert(0) += end - begin;
    }
    (last - first, all)
}

/// The same of a capture under another model; and what it is beside the captured one.
fn asked(capture: &str, more: &[&str]) -> (u64, BTreeMap<String, u64>, Value) {
    let (ended, out, said) = tuff(&[&["whatif", capture, "--json"], more].concat(), None);
    assert!(ended, "{said}");
    let one: Value = serde_json::from_str(&out).unwrap();
    let one = one[0].clone();
    let mut all = BTreeMap::new();
    for w in one["workloads"].as_array().unwrap() {
        *all.entry(w["name"].as_str().unwrap().to_string()).or_insert(0) +=
            w["elapsed_ns"][1].as_u64().unwrap();
        for side in 0..2 {
            let parts = w["waits"][side].as_object().unwrap().values().map(|n| n.as_u64().unwrap());
            assert_eq!(w["duration_ns"][side], parts.sum::<u64>(), "{w}");
        }
    }
    (one["whole_ns"][1].as_u64().unwrap(), all, one)
}

/// More and fewer cores, another memory, other rates: whole time and each workload are those of real runs of that model, to 2 %.
#[test]
fn a_capture_tells_what_another_gpu_takes() {
    let folder = temporary::folder("tuff-").unwrap();
    let at = folder.path();
    let model = std::fs::read_to_string(format!("{MODELS}/g720.toml")).unwrap();
    let all = programs(at);
    let before = capture(at, "before", &all, None);
    let cores = |n: u64, bus: u64| {
        let bytes = |b| format!("external_bytes_per_cycle = {b}");
        model.replace("\ncores = 10", &format!("\ncores = {n}")).replace(&bytes(56), &bytes(bus))
    };
    // Another class, but for what decides what is counted.
    let other = std::fs::read_to_string(format!("{MODELS}/g610.toml")).unwrap();
    let other = other.replace("deferred = 0", "deferred = 1").replace("l2_kib = 1024", "l2_kib = 2048");
    let file = at.join("other.toml");
    let rows: [(String, Vec<&str>); 3] = [
        (cores(14, 32), vec!["--cores", "14", "--bus", "32"]),
        (cores(4, 100), vec!["--cores", "4", "--set", "memory.external_bytes_per_cycle=100"]),
        (other, vec!["--gpu", file.to_str().unwrap()]),
    ];
    for (n, (text, arguments)) in rows.iter().enumerate() {
        std::fs::write(&file, text).unwrap();
        let (whole, workloads) = real(&capture(at, &format!("real{n}"), &all, Some(&file)));
        let (told, of, one) = asked(&before, arguments);
        let near = |a: u64, b: u64, what: &str| {
            let off = a as f64 / b as f64 - 1.0;
            assert!(off.abs() < 0.02, "{arguments:?}: {what}: {a}, not {b}");
        };
        near(told, whole, "whole");
        assert_eq!(of.keys().collect::<Vec<_>>(), workloads.keys().collect::<Vec<_>>());
        workloads.iter().for_each(|(name, ns)| near(of[name], *ns, name));
        // It does tell of a change.
        let changed = one["workloads"].as_array().unwrap().iter().any(|w| {
            let [was, now] = [0, 1].map(|side| w["elapsed_ns"][side].as_u64().unwrap());
            was.abs_diff(now) > was / 5
        });
        assert!(changed, "{one}");
    }
    // Nothing changed is nothing changed.
    let (told, of, _) = asked(&before, &[]);
    assert_eq!((told, of), real(&before));
    // What a capture cannot tell it does not tell, unless it is to be left.
    let (ended, _, said) = tuff(&["whatif", &before, "--l2", "768"], None);
    assert!(
        !ended && said.contains("memory.l2_kib = 768 (captured: 2048)") && said.contains("TUFF_GPU"),
        "{said}"
    );
    assert!(said.contains("an L2 of 256, 512, 1024, 4096, 8192 KiB"), "{said}");
    // Of a program that asks for less than either size holds it does.
    let small = [kernel(at, "med")];
    std::fs::write(&file, model.replace("l2_kib = 2048", "l2_kib = 768")).unwrap();
    let measured = real(&capture(at, "small, real", &small, Some(&file)));
    let (told, of, _) = asked(&capture(at, "small", &small, None), &["--l2", "768"]);
    assert_eq!((told, of), measured);
    let (ended, out, said) = tuff(&["whatif", &before, "--gpu", "g610", "--as-counted"], None);
    assert!(ended && out.contains("left as captured: tiler.deferred = 1, not 0"), "{out}{said}");
    let (ended, _, said) = tuff(&["whatif", &before, "--set", "core.no_such=1"], None);
    assert!(!ended && said.contains("core.no_such"), "{said}");
    let (ended, _, said) = tuff(&["whatif", &before, "--cores", "0"], None);
    assert!(!ended && said.contains("cores = 0"), "{said}");
}

/// From a capture with an L2 of one size, the times with another, smaller or larger, are exactly those of a real run. The bus is narrow, so that what an L2 lacks takes time. Kernels that read a matrix often, a textured picture, one with many triangles, and a textured scene.
#[test]
fn a_capture_tells_what_an_l2_of_another_size_takes() {
    const SIZES: [u64; 4] = [256, 1024, 2048, 8192];
    let folder = temporary::folder("tuff-").unwrap();
    let at = folder.path();
    let text = std::fs::read_to_string(format!("{MODELS}/g720.toml")).unwrap();
    let model = |l2: u64, bus: u64, cores: u64| {
        let file = at.join(format!("{l2}-{bus}-{cores}.toml"));
        let change = |text: String, key: &str, was: u64, now: u64| {
            let [was, now] = [was, now].map(|n| format!("\n{key} = {n}"));
            assert!(text.contains(&was), "{was}");
            text.replace(&was, &now)
        };
        let text = change(text.clone(), "l2_kib", 2048, l2);
        let text = change(text, "external_bytes_per_cycle", 56, bus);
        std::fs::write(&file, change(text, "cores", 10, cores)).unwrap();
        file
    };
    let picture = |p: &str| json!({ "Check": { "picture": p } }).to_string();
    let scene = json!({ "Own": "First" }).to_string();
    let all: Vec<String> = ["saxpy", "sgemm"]
        .map(|k| kernel(at, k))
        .into_iter()
        .chain(["tex", "geom"].map(picture))
        .chain([scene])
        .collect();
    let captures = SIZES.map(|l2| capture(at, &format!("l2 of {l2}"), &all, Some(&model(l2, 8, 10))));
    let measured = captures.each_ref().map(|c| real(c));
    for (was, capture) in SIZES.iter().zip(&captures) {
        for (now, (whole, workloads)) in SIZES.iter().zip(&measured) {
            let (told, of, _) = asked(capture, &["--l2", &now.to_string()]);
            assert_eq!((told, &of), (*whole, workloads), "from {was} to {now} KiB");
        }
    }
    // Each size makes a difference.
    assert!(measured.windows(2).all(|pair| pair[0].0 > pair[1].0), "{measured:?}");
    // Together with other cores and another bus.
    let (whole, workloads) = real(&capture(at, "real", &all, Some(&model(1024, 32, 14))));
    let (told, of, _) = asked(&captures[2], &["--cores", "14", "--l2", "1024", "--bus", "32"]);
    let near = |a: u64, b: u64, what: &str| {
        let off = a as f64 / b as f64 - 1.0;
        assert!(off.abs() < 0.02, "{what}: {a}, not {b}");
    };
    near(told, whole, "whole");
    workloads.iter().for_each(|(name, ns)| near(of[name], *ns, name));
}

/// What a capture has for `tuff whatif` is the same, byte by byte, with every SIMD level, one thread and two, with and without compiled code, and
/// whatever pauses the program makes.
#[test]
fn a_capture_does_not_depend_on_the_host() {
    let folder = temporary::folder("tuff-").unwrap();
    let at = folder.path();
    let all = programs(at);
    let rows: [&[(&str, &str)]; 6] = [
        &[],
        &[("TUFF_SIMD", "portable"), ("TUFF_THREADS", "1")],
        &[("TUFF_SIMD", "avx2"), ("TUFF_JIT", "0")],
        &[("TUFF_SIMD", "avx512"), ("TUFF_JIT", "always")],
        &[("TUFF_THREADS", "1"), ("TUFF_JIT", "always")],
        &[("TUFF_JIT", "0")],
    ];
    // A generator of random numbers for the pauses: of up to 60 ms, before each request.
    let mut r = Random::new(1);
    let mut pause = || r.below(60);
    let mut first: Option<(String, Value)> = None;
    for (n, settings) in rows.iter().enumerate() {
        let to = at.join(n.to_string()).to_str().unwrap().to_string();
        let mut requests = String::new();
        for request in &all {
            let pause = if n == 0 { 0 } else { pause() };
            requests += &format!("sleep 0.{pause:03}; printf '%s\\n' '{request}'; ");
        }
        let line = format!("{{ {requests}}} | '{TUFF}' child > /dev/null");
        let (ended, _, said) =
            tuff_with(&["run", "--check", "--capture", &to, "--", "sh", "-c", &line], settings);
        assert!(ended, "{settings:?}: {said}");
        let schedule = std::fs::read_to_string(Path::new(&to).join("schedule.json")).unwrap();
        let (_, _, told) = asked(&to, &["--cores", "14", "--l2", "256", "--bus", "8"]);
        match &first {
            None => first = Some((schedule, told)),
            Some((same, answer)) => {
                assert!(schedule == *same, "{settings:?}: another schedule.json");
                assert_eq!(told, *answer, "{settings:?}");
            }
        }
    }
}

/// Two processes side by side, each with a GPU of its own: together they take what they take alone, now and on another model.
#[test]
fn a_capture_of_several_processes_is_the_sum_of_theirs() {
    let folder = temporary::folder("tuff-").unwrap();
    let at = folder.path();
    let [one, two] = ["saxpy", "trans"].map(|k| kernel(at, k));
    let child = |request: &str| format!("printf '%s\\n' '{request}' | '{TUFF}' child > /dev/null");
    let to = at.join("both").to_str().unwrap().to_string();
    let line = format!("{} & {} & wait", child(&one), child(&two));
    let (ended, _, said) = tuff(&["run", "--check", "--capture", &to, "--", "sh", "-c", &line], None);
    assert!(ended, "{said}");
    let alone = [("one", &one), ("two", &two)];
    let alone = alone.map(|(name, request)| capture(at, name, std::slice::from_ref(request), None));
    for change in [&[][..], &["--cores", "4", "--l2", "256", "--bus", "16"]] {
        let (whole, workloads, _) = asked(&to, change);
        let each = alone.each_ref().map(|c| asked(c, change));
        assert_eq!(whole, each.iter().map(|e| e.0).sum::<u64>());
        let mut sum = BTreeMap::new();
        each.iter().flat_map(|e| &e.1).for_each(|(name, ns)| *sum.entry(name.clone()).or_insert(0) += ns);
        assert_eq!(workloads, sum);
    }
}
