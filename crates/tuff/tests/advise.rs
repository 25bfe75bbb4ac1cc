//! `tuff advise` on twenty scenes, each with one fault, and on their cured twins. The gain that it expects of the fault is compared with what the
//! cured scene saves.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What of a scene is compared with what is saved.
#[derive(Clone, Copy, PartialEq)]
enum Saves {
    /// Nanoseconds.
    Time,
    /// Nanoseconds, and bytes of external memory.
    Both,
    /// Bytes of the image that need not be allocated.
    Memory,
}

/// A scene, which has its rule's name; the label or name of what the fault is about, and what it saves.
const SCENES: &[(&str, &str, Saves)] = &[
    ("overdraw", "faulty", Saves::Time),
    ("load", "reused", Saves::Both),
    ("store", "unread depth", Saves::Both),
    ("transient", "kept depth", Saves::Memory),
    ("unused-vertices", "faulty", Saves::Both),
    ("unused-attributes", "faulty", Saves::Both),
    ("index-order", "faulty", Saves::Both),
    ("duplicate-vertices", "faulty", Saves::Both),
    ("culled-triangles", "faulty", Saves::Both),
    ("tiny-triangles", "faulty", Saves::Both),
    ("registers", "faulty", Saves::Time),
    ("precision", "faulty", Saves::Time),
    ("varyings", "faulty", Saves::Time),
    ("texture-format", "faulty", Saves::Both),
    ("mipmaps", "faulty", Saves::Both),
    ("bandwidth", "lit scene", Saves::Both),
    ("bubbles", "", Saves::Time),
    ("late-depth", "faulty", Saves::Time),
    ("discard", "faulty", Saves::Time),
    ("barriers", "", Saves::Time),
];

/// The expected gain is no more and no less than this many times the real one.
const FACTOR: f64 = 1.5;

const TUFF: &str = env!("CARGO_BIN_EXE_tuff");

fn faults() -> PathBuf {
    let program = Path::new(TUFF).with_file_name("examples").join("faults");
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    program
}

/// Runs `tuff`, which is to succeed: what it prints.
fn tuff(arguments: &[&str]) -> String {
    let mut command = Command::new(TUFF);
    command.args(arguments).env("TUFF_CONFORMANCE", "1.4.0.0").env_remove("TUFF_GPU");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A capture of a scene.
fn capture(folder: &Path, scene: &str, way: &str) -> String {
    let to = folder.join(format!("{scene}.{way}")).to_str().unwrap().to_string();
    tuff(&["run", "--capture", &to, "--", faults().to_str().unwrap(), scene, way]);
    to
}

fn advice(capture: &str) -> Value {
    serde_json::from_str(&tuff(&["advise", capture, "--all", "--json"])).unwrap()
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or(0.0)
}

/// From the first begin to the last end of all that is no transfer, and its bytes to and from external memory: textures are uploaded in other sizes.
fn cost(capture: &str) -> [f64; 2] {
    let text = std::fs::read_to_string(Path::new(capture).join("capture.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let workloads = file["workloads"].as_array().unwrap();
    let draws = |w: &Value| w["kind"] != "transfer";
    let runs = file["runs"].as_array().unwrap().iter();
    let runs = runs.filter(|r| draws(&workloads[r["workload"].as_u64().unwrap() as usize]));
    let jobs = runs.flat_map(|r| r["jobs"].as_array().unwrap());
    let spans = jobs.map(|j| ["begin_ns", "end_ns"].map(|k| number(&j[k]))).filter(|[b, e]| e > b);
    let (first, last) =
        spans.fold((f64::MAX, 0.0), |(first, last): (f64, f64), [b, e]| (first.min(b), last.max(e)));
    let bytes = workloads
        .iter()
        .filter(|w| draws(w))
        .flat_map(|w| ["TuffExtReadBytes", "TuffExtWriteBytes"].map(|k| number(&w["counters"][k])));
    [last - first, bytes.sum()]
}

fn near(told: f64, real: f64, what: &str) {
    assert!(real > 0.0, "{what}: the cure saves nothing");
    let ratio = told / real;
    println!("{what}: {told:.0} expected, {real:.0} saved: × {ratio:.2}");
    assert!((1.0 / FACTOR..FACTOR).contains(&ratio), "{what}: {told} expected, {real} saved");
}

#[test]
fn twenty_faults_are_found_and_their_cures_are_not_and_gains_are_what_cures_save() {
    let folder = temporary::folder("tuff-").unwrap();
    let listed = Command::new(faults()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.lines().collect::<Vec<_>>(), SCENES.iter().map(|s| s.0).collect::<Vec<_>>());
    for (scene, about, saves) in SCENES {
        let [fault, cured] = ["fault", "cured"].map(|way| capture(folder.path(), scene, way));
        let (found, left) = (advice(&fault), advice(&cured));
        let of = |advice: &Value| -> Vec<Value> {
            advice["items"].as_array().unwrap().iter().filter(|i| i["rule"] == *scene).cloned().collect()
        };
        assert_eq!(of(&left), [] as [Value; 0], "{scene}, cured");
        let items = of(&found);
        assert!(!items.is_empty(), "{scene}: nothing is found in {found}");
        // The worst of all is what was done wrong.
        assert_eq!(found["items"][0]["rule"], *scene, "{found}");
        let names: Vec<&str> = items
            .iter()
            .flat_map(|i| i["about"].as_array().unwrap())
            .filter_map(|a| a["label"].as_str())
            .collect();
        assert!(about.is_empty() || names.contains(about), "{scene}: {names:?}");
        assert!(!names.contains(&"other"), "{scene}: nothing is wrong with the other draw: {names:?}");
        let gain = |key: &str| items.iter().map(|i| number(&i["gain"][key])).sum::<f64>();
        let [[ns, bytes], [ns_left, bytes_left]] = [cost(&fault), cost(&cured)];
        if *saves != Saves::Memory {
            near(gain("ns"), ns - ns_left, &format!("{scene}, ns"));
        }
        if *saves == Saves::Both {
            near(gain("bytes"), bytes - bytes_left, &format!("{scene}, bytes"));
        }
        if *saves == Saves::Memory {
            // 512 × 512 pixels of D32_SFLOAT.
            assert_eq!((gain("memory"), gain("ns"), gain("bytes")), (1_048_576.0, 0.0, 0.0), "{scene}");
        }
    }
}

/// The same advice as text, Markdown, SARIF and in the page; rules by name; what a capture of an older version says.
#[test]
fn advice_is_written_in_four_ways() {
    let folder = temporary::folder("tuff-").unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let fault = capture(folder.path(), "barriers", "fault");
    let [markdown, sarif, page] = ["a.md", "a.sarif", "a.html"].map(at);
    let text = tuff(&["advise", &fault, "--markdown", &markdown, "--sarif", &sarif]);
    let says = "3 barriers order ALL_COMMANDS → ALL_COMMANDS, so the vertices of a pass wait for the fragments of the one before it";
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed(&text).contains(says), "{text}");
    let read = |file: &str| std::fs::read_to_string(file).unwrap();
    assert!(
        read(&markdown).contains("## 1. A barrier makes more stages wait than need to"),
        "{}",
        read(&markdown)
    );
    let sarif: Value = serde_json::from_str(&read(&sarif)).unwrap();
    let run = &sarif["runs"][0];
    assert_eq!((&sarif["version"], &run["results"][0]["ruleId"]), (&"2.1.0".into(), &"barriers".into()));
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), SCENES.len());
    assert!(run["results"][0]["message"]["text"].as_str().unwrap().contains("FRAGMENT_SHADER"), "{run}");
    tuff(&["report", &fault, "-o", &page]);
    assert!(read(&page).contains("so the vertices of a pass wait"), "the page has the advice");
    let rules = tuff(&["advise", "--rules"]);
    for (rule, ..) in SCENES {
        assert!(rules.contains(&format!("\n{rule}: ")), "{rules}");
        assert!(tuff(&["advise", &fault, "--rule", rule]).starts_with("tuff advise: "));
    }
    let refused = |arguments: &[&str]| {
        let done = Command::new(TUFF).args(arguments).output().unwrap();
        assert!(!done.status.success());
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(
        refused(&["advise", &fault, "--rule", "speed"])
            .contains("no rule is called that; the rules are overdraw, ")
    );
    std::fs::remove_file(Path::new(&fault).join("facts.json")).unwrap();
    assert!(
        refused(&["advise", &fault]).contains("facts.json: not found: the capture is from an older version")
    );
    // Its page has no advice, but everything else.
    tuff(&["report", &fault, "-o", &page]);
}
