//! `tuff sanitize` on small programs, each with one fault, and on their twins without it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A shader of the folder `sanitize`, the workgroups that it is dispatched with, the fault's kind, and a part of its message.
const SEEDS: &[(&str, u32, &str, &str)] = &[
    ("sum_tree", 1, "data-race", "one workgroup"),
    ("neighbour", 1, "data-race", "one workgroup"),
    ("reused_tile", 1, "data-race", "read and write"),
    ("prefix_sum", 1, "data-race", "one workgroup"),
    ("lockstep", 1, "data-race", "one workgroup"),
    ("plain_of_atomic", 1, "data-race", "atomic and read"),
    ("transpose", 1, "data-race", "one workgroup"),
    ("cleared_histogram", 1, "data-race", "write and atomic"),
    ("overlapping_vectors", 1, "data-race", "write and write"),
    ("half_barrier", 1, "data-race", "one workgroup"),
    ("blur_in_place", 4, "data-race", "different workgroups"),
    ("counter", 4, "data-race", ""),
    ("same_element", 1, "data-race", "write and write"),
    ("last_workgroup", 8, "data-race", "different workgroups"),
    ("scatter", 2, "data-race", "write and write"),
    ("handed_over", 8, "data-race", "write and read of different workgroups"),
    ("handed_over_fences", 8, "data-race", "write and read of different workgroups"),
    ("handed_over_near", 8, "data-race", "write and read of different workgroups"),
    ("handed_over_unseen", 128, "data-race", "read and write of different workgroups"),
    ("handed_on", 8, "data-race", "write and read of different workgroups"),
    ("taken_back", 8, "data-race", "read and write of different workgroups"),
    ("last_unfenced", 8, "data-race", "write and read of different workgroups"),
    ("reverse_in_place", 2, "data-race", "different workgroups"),
    ("one_too_many", 16, "out-of-bounds", "read of 4 bytes"),
    ("no_bound", 17, "out-of-bounds", "write of 4 bytes"),
    ("below_zero", 1, "out-of-bounds", "read of 4 bytes"),
    ("length_inclusive", 1, "out-of-bounds", "read of 4 bytes"),
    ("shared_index", 1, "out-of-bounds", "write of 4 bytes"),
    ("atomic_past_end", 1, "out-of-bounds", "atomic of 4 bytes"),
    ("one_slot", 1, "data-race", "write and write"),
    ("half_written", 1, "uninitialized", "variable that nothing has written is stored"),
    ("sum_from_nothing", 1, "uninitialized", "variable that nothing has written is stored"),
    ("flag_never_cleared", 1, "uninitialized", "variable that nothing has written decides a branch"),
    ("index_of_nothing", 1, "uninitialized", "is an address or an index"),
    ("shared_half", 1, "uninitialized", "workgroup memory that nothing has written is stored"),
    ("array_short", 1, "uninitialized", "variable that nothing has written is stored"),
    ("counter_from_nothing", 1, "uninitialized", "workgroup memory that nothing has written is stored"),
    ("three_of_four", 1, "uninitialized", "variable that nothing has written is stored"),
    ("divided_by_zero", 1, "arithmetic", "division by zero is stored"),
    ("shifted_out", 1, "arithmetic", "shift by at least the operand's width is stored"),
    ("root_of_negative", 1, "arithmetic", "a NaN from operands that are none is stored"),
    ("logarithm_of_zero", 1, "arithmetic", "an infinity from finite operands is stored"),
    ("negative_to_unsigned", 1, "arithmetic", "integer type cannot hold is stored"),
];

/// A pair of scenes (`examples/scene.rs`): files, in which `V` is `fault` or `twin`, words of the one with the fault and of its twin, the fault's
/// kind, and a part of its message.
const SCENES: &[(&str, &str, &str, &str, &str)] = &[
    ("fresh_branch.spv", "fresh=0", "", "uninitialized", "memory that nothing has written decides a branch"),
    ("fresh_branch.spv", "fresh=1 copy=1:0", "copy=1:0", "uninitialized", "decides a branch"),
    ("fresh_index.spv", "fresh=0", "", "uninitialized", "memory that nothing has written is an address"),
    ("fresh_sum.spv", "fresh=0", "", "uninitialized", "memory that nothing has written is stored"),
    ("fresh_vector.spv", "fresh=0", "", "uninitialized", "memory that nothing has written is stored"),
    ("fresh_counter.spv", "fresh=0", "", "uninitialized", "memory that nothing has written is stored"),
    ("fresh_bytes.spv", "fresh=0", "", "uninitialized", "memory that nothing has written decides a branch"),
    ("fresh_double.spv", "fresh=0", "", "uninitialized", "memory that nothing has written decides a branch"),
    (
        "push_never_set.spv",
        "",
        "push",
        "uninitialized",
        "a push constant that nothing has set decides a branch",
    ),
    ("fresh_image.spv", "fresh=3", "", "uninitialized", "a texel that nothing has written decides a branch"),
    (
        "fresh_texture.spv",
        "fresh=4",
        "",
        "uninitialized",
        "a texel that nothing has written decides a branch",
    ),
    ("fresh_fetch.spv", "fresh=4", "", "uninitialized", "a texel that nothing has written is an address"),
    (
        "screen.vert.spv shown.frag.spv",
        "pass=drop",
        "pass=keep",
        "uninitialized",
        "a texel that nothing has written",
    ),
    (
        "screen.vert.spv shown.frag.spv",
        "pass=any",
        "pass=keep",
        "uninitialized",
        "a texel that nothing has written",
    ),
    (
        "screen.vert.spv shown.frag.spv",
        "fresh=4",
        "",
        "uninitialized",
        "a texel that nothing has written is stored",
    ),
    ("placed.vert.spv plain.frag.spv", "vertices=fresh", "vertices", "uninitialized", "a vertex's attribute"),
    ("unset_buffer.spv", "unset=0", "", "null-descriptor", "no buffer"),
    ("unset_image.spv", "unset=3", "", "null-descriptor", "no image"),
    ("image_neighbour.V.spv", "", "", "data-race", "read and write of one workgroup"),
    ("image_groups.V.spv", "groups=4", "groups=4", "data-race", "write and write of different workgroups"),
    ("image_counter.V.spv", "", "", "data-race", "read and write of one workgroup"),
    ("image_edge.V.spv", "", "", "out-of-bounds", "write of a texel that does not exist (it is dropped)"),
    ("fetch_level.V.spv", "", "", "out-of-bounds", "read of a texel that does not exist (it gives zeros)"),
    ("texels_past_end.V.spv", "", "", "out-of-bounds", "read of a texel that does not exist"),
    ("texels_neighbour.V.spv", "", "", "data-race", "read and write of one workgroup"),
    ("screen.vert.spv fragments_count.V.spv", "", "", "data-race", "of two fragments of a draw"),
    ("screen.vert.spv fragments_mark.V.spv", "", "", "data-race", "write and write of two fragments"),
    (
        "screen.vert.spv fragments_blend.V.spv",
        "instances=3",
        "instances=3",
        "data-race",
        "of two fragments of a draw",
    ),
    ("some_at_barrier.V.spv", "", "", "divergence", "a barrier that some invocations"),
    ("left_early.V.spv", "", "", "divergence", "a barrier that some invocations"),
    ("turns_differ.V.spv", "", "", "divergence", "a barrier that some invocations"),
    ("step_of_nothing.V.spv", "", "", "endless-loop", "the whole state of a loop is the same"),
    ("written_twice.V.spv", "", "", "dead-store", "a store replaces"),
    ("stored_for_nobody.V.spv", "", "", "dead-store", "a store replaces"),
    ("fresh_copy.spv", "", "", "unused-binding", "0.3, 0.4, 0.5"),
];

/// Situations of the tests of GPU-assisted validation: the kinds of the faults, by CASE of `gpu_av.comp` (docs/sanitize.md has their names).
const SITUATIONS: [&str; 24] = [
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "data-race",
    "arithmetic",
    "arithmetic",
    "arithmetic",
    "arithmetic",
    "arithmetic",
    "out-of-bounds",
    "out-of-bounds",
    "out-of-bounds",
    "out-of-bounds",
    "out-of-bounds",
    "out-of-bounds",
    "out-of-bounds",
    "data-race",
];

/// Runs an example of this crate under `tuff sanitize`; whether `--fail` let it pass, and the findings. `arguments`: those for the example.
fn sanitized(
    example: &str,
    arguments: &[String],
    options: &[&str],
    settings: &[(&str, &str)],
) -> (bool, Value) {
    let tuff = Path::new(env!("CARGO_BIN_EXE_tuff"));
    let program = tuff.with_file_name("examples").join(example);
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    let folder = temporary::folder("tuff-").unwrap();
    let json = folder.path().join("findings.json");
    let mut command = Command::new(tuff);
    command.args(["sanitize", "--fail"]).args(options).arg("--json").arg(&json).arg("--").arg(program);
    let done = command.args(arguments).envs(settings.iter().copied()).output().unwrap();
    let text = std::fs::read_to_string(&json);
    let text =
        text.unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}", String::from_utf8_lossy(&done.stderr)));
    (done.status.success(), serde_json::from_str(&text).unwrap())
}

/// Runs a scene.
fn scene(
    files: &str,
    variant: &str,
    words: &str,
    options: &[&str],
    settings: &[(&str, &str)],
) -> (bool, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sanitize");
    let file = |f: &str| folder.join(f.replace(".V.", &format!(".{variant}."))).display().to_string();
    let mut all: Vec<String> = files.split_whitespace().map(file).collect();
    all.extend(words.split_whitespace().map(String::from));
    sanitized("scene", &all, options, settings)
}

fn shader(name: &str, variant: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/sanitize/{name}.{variant}.spv"))
}

/// Runs a shader; whether `--fail` let it pass, and the findings.
fn sanitize(name: &str, variant: &str, groups: u32, settings: &[(&str, &str)]) -> (bool, Value) {
    let arguments = [shader(name, variant).display().to_string(), groups.to_string()];
    sanitized("dispatch", &arguments, &[], settings)
}

/// The line of the source that has this text first.
fn line(name: &str, text: &str) -> u64 {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/sanitize/{name}.comp"));
    let source = std::fs::read_to_string(source).unwrap();
    1 + source.lines().position(|l| l.contains(text)).unwrap() as u64
}

#[test]
fn each_fault_is_found_and_its_twin_is_silent() {
    let mut wrong = vec![];
    for &(name, groups, kind, part) in SEEDS {
        let (passed, found) = sanitize(name, "fault", groups, &[]);
        let all = found["findings"].as_array().unwrap();
        let fits = |f: &Value| f["kind"] == kind && f["message"].as_str().unwrap().contains(part);
        if passed || !all.iter().any(fits) || all.iter().any(|f| f["kind"] != kind) {
            wrong.push(format!("{name}: {kind} {part:?} expected, found {all:#?}"));
        }
        let (passed, found) = sanitize(name, "twin", groups, &[]);
        if !passed || found["findings"] != Value::Array(vec![]) || found["accesses"] == 0 {
            wrong.push(format!("{name}'s twin: {found:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An endless loop ends with the device.
const SOON: &[(&str, &str)] = &[("TUFF_WATCHDOG_MS", "2000"), ("TUFF_LOG", "off")];

#[test]
fn faults_of_scenes_are_found_and_their_twins_are_silent() {
    let mut wrong = vec![];
    for &(files, fault, twin, kind, part) in SCENES {
        let advice = matches!(kind, "dead-store" | "unused-binding");
        let options: &[&str] = if advice { &["--only", kind] } else { &[] };
        let settings = if kind == "endless-loop" { SOON } else { &[] };
        let (passed, found) = scene(files, "fault", fault, options, settings);
        let all = found["findings"].as_array().unwrap();
        let fits = |f: &Value| f["kind"] == kind && f["message"].as_str().unwrap().contains(part);
        // What a pass dropped is reported twice: by the command that reads it, and where a value decides something.
        let also = if fault == "pass=drop" { "discarded-read" } else { kind };
        if passed || !all.iter().any(fits) || all.iter().any(|f| f["kind"] != kind && f["kind"] != also) {
            wrong.push(format!("{files} {fault}: {kind} {part:?} expected, found {all:#?}"));
        }
        // Advice is given where it is asked for.
        let options = if kind == "unused-binding" { &[] } else { options };
        let (passed, found) = scene(files, "twin", twin, options, &[]);
        if !passed || found["findings"] != Value::Array(vec![]) {
            wrong.push(format!("the twin of {files} {twin}: {found:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn situations_of_gpu_assisted_validation() {
    let mut wrong = vec![];
    for (n, kind) in (1..).zip(SITUATIONS) {
        let file = format!("gpu_av.{n}.V.spv");
        let (passed, found) = scene(&file, "fault", "", &[], &[]);
        let all = found["findings"].as_array().unwrap();
        if passed || all.is_empty() || all.iter().any(|f| f["kind"] != kind) {
            wrong.push(format!("case {n}: {kind} expected, found {all:#?}"));
        }
        let (passed, found) = scene(&file, "twin", "", &[], &[]);
        if !passed || found["findings"] != Value::Array(vec![]) {
            wrong.push(format!("the twin of case {n}: {found:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn copies_of_undefined_memory_are_silent() {
    let (passed, found) = scene("fresh_copy.spv", "", "fresh=0", &[], &[]);
    assert!(passed && found["findings"] == Value::Array(vec![]), "{found:#}");
}

#[test]
fn undefined_memory_shows_if_it_is_to() {
    let tuff = Path::new(env!("CARGO_BIN_EXE_tuff"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sanitize/fresh_copy.spv");
    let printed = |undefined: &str| {
        let mut command = Command::new(tuff);
        command.args(["run", "--"]).arg(tuff.with_file_name("examples").join("scene"));
        let done =
            command.arg(&file).args(["fresh=0", "print"]).env("TUFF_UNDEFINED", undefined).output().unwrap();
        String::from_utf8_lossy(&done.stdout).trim().to_string()
    };
    assert_eq!(printed("poison"), "0x7fa100ff");
    assert_eq!(printed("keep"), "0x00000000");
}

#[test]
fn a_race_names_both_lines() {
    let (_, found) = sanitize("neighbour", "fault", 1, &[]);
    let finding = &found["findings"][0];
    let of = |place: &Value| place["line"].as_u64().unwrap();
    assert_eq!(of(&finding["here"]), line("neighbour", "b[i] ="), "{finding:#}");
    assert_eq!(of(&finding["there"]), line("neighbour", "s[i] ="), "{finding:#}");
    assert!(finding["here"]["file"].as_str().unwrap().ends_with("neighbour.comp"));
    assert_eq!(finding["memory"]["space"], "shared");
}

/// Programs with findings of each kind but those of `tests/hazards.rs`: a shader and its workgroups, or a scene's files and words.
const OF_EACH_KIND: &[(&str, &str, &str)] = &[
    ("reused_tile", "1", "data-race"),
    ("blur_in_place", "4", "data-race"),
    ("handed_over_unseen", "128", "data-race"),
    ("one_too_many", "16", "out-of-bounds"),
    ("shared_half", "1", "uninitialized"),
    ("divided_by_zero", "1", "arithmetic"),
    ("image_groups.V.spv", "groups=4", "data-race"),
    ("screen.vert.spv fragments_blend.V.spv", "instances=3", "data-race"),
    ("screen.vert.spv shown.frag.spv", "fresh=4", "uninitialized"),
    ("unset_buffer.spv", "unset=0", "null-descriptor"),
    ("turns_differ.V.spv", "", "divergence"),
    ("step_of_nothing.V.spv", "", "endless-loop"),
    ("stored_for_nobody.V.spv", "", "dead-store"),
    ("fresh_copy.spv", "", "unused-binding"),
];

/// The same report twice, on 1, 2 and 16 threads, and on every level and with every JIT.
#[test]
fn findings_are_the_same_everywhere() {
    let mut seen: Vec<&str> = OF_EACH_KIND.iter().map(|row| row.2).collect();
    for &(name, how, kind) in OF_EACH_KIND {
        let run = |settings: &[(&str, &str)]| {
            let advice = matches!(kind, "dead-store" | "unused-binding");
            let options: &[&str] = if advice { &["--only", kind] } else { &[] };
            let mut all = settings.to_vec();
            let endless = kind == "endless-loop";
            all.extend_from_slice(if endless { SOON } else { &[] });
            let mut found = match name.contains(".spv") {
                true => scene(name, "fault", how, options, &all).1,
                false => sanitize(name, "fault", how.parse().unwrap(), &all).1,
            };
            if endless {
                // How often it goes round is a matter of time.
                found["accesses"] = Value::Null;
                found["findings"].as_array_mut().unwrap().iter_mut().for_each(|f| f["count"] = Value::Null);
            }
            found
        };
        let first = run(&[]);
        let kinds = first["findings"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap());
        assert!(kinds.collect::<Vec<_>>().contains(&kind), "{name}: {first:#}");
        for settings in [
            &[][..],
            &[("TUFF_THREADS", "1"), ("TUFF_JIT", "1")],
            &[("TUFF_THREADS", "2"), ("TUFF_SIMD", "portable"), ("TUFF_JIT", "0")],
            &[("TUFF_THREADS", "16"), ("TUFF_SIMD", "avx2"), ("TUFF_JIT", "always")],
        ] {
            assert_eq!(first, run(settings), "{name} {settings:?}");
        }
    }
    let mut all: Vec<&str> = SEEDS.iter().map(|s| s.2).chain(SCENES.iter().map(|s| s.3)).collect();
    [&mut all, &mut seen].into_iter().for_each(|k| {
        k.sort_unstable();
        k.dedup();
    });
    assert_eq!(all, seen, "each kind is there");
}
