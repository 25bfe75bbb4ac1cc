//! What a build does that is to fail when a shader got dearer: `tuff run --counters` twice, and `tuff diff`; or when what was
//! measured does not agree with itself: `tuff run --check`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn tuff() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tuff"))
}

/// A file of this test's, gone when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        Temporary(client::scratch(name).unwrap())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The counters of a program that answers these requests, checked: `tuff`'s own child, for which Tuff is a driver as any
/// other; and what it answered.
fn measured(requests: &str, threads: usize, name: &str) -> (Temporary, String) {
    let file = Temporary::new(name);
    let mut run = tuff();
    run.args(["run", "--check", "--counters"]).arg(&file.0);
    run.args(["--", env!("CARGO_BIN_EXE_tuff"), "child"]).env("TUFF_THREADS", threads.to_string());
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = run.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    write!(stdin, "{requests}").unwrap();
    drop(stdin);
    let answers = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&answers.stderr);
    let line = said.lines().last().unwrap_or_default();
    assert!(answers.status.success() && line.ends_with(" 0 violated"), "{said}");
    (file, String::from_utf8_lossy(&answers.stdout).into_owned())
}

/// The counters of a program that multiplies matrices of 512 × 512 so many times.
fn multiply(times: usize, threads: usize, name: &str) -> Temporary {
    let output = Temporary::new(&format!("{name}.out"));
    let request = serde_json::json!({ "Output": { "kernel": "sgemm", "path": output.0 } });
    let (file, text) = measured(&format!("{request}\n").repeat(times), threads, name);
    assert_eq!(text.matches("Done").count(), times, "{text}");
    file
}

fn diff(a: &Path, b: &Path, limits: &[&str]) -> Output {
    let mut diff = tuff();
    diff.arg("diff").arg(a).arg(b);
    limits.iter().for_each(|l| {
        diff.arg("--max-increase").arg(l);
    });
    diff.output().unwrap()
}

#[test]
fn a_program_that_got_dearer_fails() {
    let before = multiply(1, 1, "before.json");
    let text = std::fs::read_to_string(&before.0).unwrap();
    for threads in [1, 2] {
        let again = multiply(1, threads, "again.json");
        assert!(text == std::fs::read_to_string(&again.0).unwrap(), "{threads} threads");
    }
    // A thread for each of 512 × 512 elements multiplies and adds 512 times; a warp has 16.
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["total"]["TuffFmaInstr"], 512 * 512 / 16 * 512);

    let same = diff(&before.0, &before.0, &["fma=0%", "cycles=0%"]);
    assert_eq!((same.status.code(), &same.stdout[..]), (Some(0), &b"no difference\n"[..]));

    let after = multiply(2, 2, "after.json");
    assert_eq!(diff(&before.0, &after.0, &[]).status.code(), Some(0), "no limit, no failure");
    let table = diff(&before.0, &after.0, &["fma=1000"]);
    let rows = String::from_utf8_lossy(&table.stdout).into_owned();
    let fma: Vec<_> = rows.lines().filter(|l| l.contains("TuffFmaInstr")).collect();
    let words: Vec<_> = fma[0].split_whitespace().collect();
    // Of the total and of the one workload.
    assert_eq!((fma.len(), &words[..]), (2, &["TuffFmaInstr", "8388608", "16777216", "+100.00", "%"][..]));

    let slower = diff(&before.0, &after.0, &["time=10%"]);
    let why = String::from_utf8_lossy(&slower.stderr).into_owned();
    assert!(slower.status.code() == Some(1) && why.contains("elapsed_ns of all workloads: "), "{why}");

    let dearer = diff(&before.0, &after.0, &["fma=99.9%"]);
    assert_eq!(dearer.status.code(), Some(1));
    assert_eq!(dearer.stdout, table.stdout);
    let why = String::from_utf8_lossy(&dearer.stderr).into_owned();
    assert!(why.contains("TuffFmaInstr of all workloads: 8388608 to 16777216, +100.00 %"), "{why}");
    for limits in [&["fma=100%"][..], &["fma=200%", "warps=0%"]] {
        assert_eq!(diff(&before.0, &after.0, limits).status.code(), Some(0), "{limits:?}");
    }
    // Cheaper is never dearer.
    assert_eq!(diff(&after.0, &before.0, &["fma=0%"]).status.code(), Some(0));
}

/// What a CI system does with two files: limits from a file, a summary, JUnit, and a baseline that one command replaces.
#[test]
fn a_build_keeps_a_baseline() {
    let (new, baseline) = (multiply(2, 2, "ci-new.json"), Temporary::new("ci-baseline.json"));
    let [limits, markdown, junit] = ["ci.toml", "ci.md", "ci.xml"].map(Temporary::new);
    let old = multiply(1, 2, "ci-old.json");
    let read = |f: &Temporary| std::fs::read_to_string(&f.0).unwrap();
    let run = |after: &Temporary, more: &[&str]| {
        let mut diff = tuff();
        diff.arg("diff").args([&baseline.0, &after.0]).arg("--thresholds").arg(&limits.0);
        diff.arg("--markdown").arg(&markdown.0).arg("--junit").arg(&junit.0).args(more);
        let output = diff.output().unwrap();
        (output.status.code(), [output.stdout, output.stderr].map(|o| String::from_utf8(o).unwrap()))
    };
    std::fs::write(&limits.0, "[counters]\nfma = 50\n[total]\nfma = { max = 16777216 }\n").unwrap();
    // No baseline yet: an error, and the reports say so; --update makes one.
    let (code, [_, said]) = run(&old, &[]);
    assert!(code == Some(2) && said.contains("ci-baseline.json"), "{said}");
    assert!(read(&junit).contains("errors=\"1\"") && read(&markdown).contains("not compared"));
    assert_eq!(run(&old, &["--update"]).0, Some(0));
    assert!(read(&baseline) == read(&old));

    // The workload's FMAs are doubled, 50 % is allowed; the total has a budget of just as many.
    let (code, [_, said]) = run(&new, &[]);
    let why: Vec<_> = said.lines().filter(|l| l.contains("TuffFmaInstr")).collect();
    assert_eq!((code, why.len()), (Some(1), 1), "{said}");
    let what = "8388608 to 16777216, +100.00 % where 50 % is allowed";
    assert!(why[0].contains(what), "{said}");
    let (xml, summary) = (read(&junit), read(&markdown));
    assert!(
        xml.contains(
            "<testsuite name=\"all workloads\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\""
        ),
        "{xml}"
    );
    assert_eq!(xml.matches(" type=\"dearer\">").count(), 1, "{xml}");
    assert!(summary.starts_with("### Tuff: one limit does not hold\n"), "{summary}");
    assert!(
        summary.contains(what) && summary.contains("8\u{a0}388\u{a0}608 | 16\u{a0}777\u{a0}216 | +100.00 %"),
        "{summary}"
    );
    assert!(read(&baseline) == read(&old), "nothing is replaced without --update");

    // The dearer run is taken for the baseline, and then holds.
    let (code, [said, why]) = run(&new, &["--update"]);
    assert!(code == Some(0) && said.contains("is now what") && why.contains(what), "{said}{why}");
    assert!(read(&baseline) == read(&new));
    assert_eq!(run(&new, &[]).0, Some(0));
    assert!(read(&markdown).starts_with("### Tuff: no difference\n"));

    // A budget that the total goes beyond by one.
    std::fs::write(&limits.0, "[total]\nfma = { max = 16777215 }\n").unwrap();
    let (code, [_, why]) = run(&new, &[]);
    assert_eq!(code, Some(1));
    assert!(
        why.contains("TuffFmaInstr of all workloads: 16777216 where 16777215 is the most allowed"),
        "{why}"
    );
    // What is no limit is an error with its file.
    std::fs::write(&limits.0, "[counters]\nfma = 'much'\n").unwrap();
    let (code, [_, why]) = run(&new, &[]);
    assert!(code == Some(2) && why.contains("ci.toml: ") && why.contains("a number of percent"), "{why}");
}

/// `tuff run --trace`: a file for a program that used the device, the same on any thread count; none, and failure, for one that did not.
#[test]
fn a_run_leaves_a_trace() {
    let trace = Temporary::new("trace.perfetto-trace");
    let run = |threads: &str, program: &[&str]| {
        let mut run = tuff();
        run.args(["run", "--trace"]).arg(&trace.0).arg("--").args(program).env("TUFF_THREADS", threads);
        run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"{\"Own\":\"First\"}\n");
        let output = child.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let traces = ["1", "2"].map(|threads| {
        let (ok, said) = run(threads, &[env!("CARGO_BIN_EXE_tuff"), "child"]);
        assert!(ok, "{said}");
        std::fs::read(&trace.0).unwrap()
    });
    assert!(traces[0] == traces[1]);
    // A message of field 1, and what its packets name.
    let has = |text: &str| traces[0].windows(text.len()).any(|w| w == text.as_bytes());
    assert_eq!(traces[0][0], 0x0a);
    assert!(has("binning") && has("FMA warp-instructions") && has("render pass 1280x720x1 of 3 attachments"));
    std::fs::remove_file(&trace.0).unwrap();
    let (ok, said) = run("1", &["true"]);
    assert!(!ok && said.contains("never created a device on Tuff") && !trace.0.exists(), "{said}");
}

/// Draws with stages of their own between vertices and fragments, and transform feedback: what is counted of them agrees with itself, and
/// is the same on any thread count.
#[test]
fn stages_agree_with_themselves() {
    let requests: String = ["geom", "tess", "mesh", "xfb"]
        .map(|name| format!("{}\n", serde_json::json!({ "Check": { "picture": name } })))
        .concat();
    let texts = [1, 2].map(|threads| {
        let (file, answers) = measured(&requests, threads, &format!("stages{threads}.json"));
        assert_eq!(answers.matches("Done").count(), 4, "{answers}");
        std::fs::read_to_string(&file.0).unwrap()
    });
    assert!(texts[0] == texts[1]);
}

/// `sh` as a program that leaves a file of counters: what it leaves is checked, and its own failure is one.
#[test]
fn what_does_not_agree_with_itself_fails() {
    let good = multiply(1, 2, "good.json");
    let (bad, file) = (Temporary::new("bad.json"), Temporary::new("checked.json"));
    let mut json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&good.0).unwrap()).unwrap();
    json["workloads"][0]["counters"]["TuffComputeFmaInstr"] = 7.into();
    std::fs::write(&bad.0, json.to_string()).unwrap();
    let run = |script: String| {
        let mut run = tuff();
        run.args(["run", "--check", "--counters"]).arg(&file.0).args(["--", "sh", "-c", &script]);
        let output = run.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let copy = |from: &Temporary| format!("cat '{}' > \"$TUFF_COUNTERS\"", from.0.display());
    let (ok, said) = run(copy(&good));
    assert!(ok && said.ends_with(" 0 violated\n"), "{said}");
    let (ok, said) = run(format!("{}; exit 3", copy(&good)));
    assert!(!ok && said.ends_with("tuff: sh: exit status: 3\n"), "{said}");
    let (ok, said) = run(copy(&bad));
    let line = "FMA = sum of phases: TuffFmaInstr = 8388608 is not TuffBinningFmaInstr + TuffComputeFmaInstr + \
                TuffMainFmaInstr = 7\n";
    assert!(!ok && said.contains(line) && said.ends_with(" 2 violated\n"), "{said}");
    // What an earlier run left is not what this one did.
    let (ok, said) = run("true".into());
    assert!(!ok && said.contains("never created a device on Tuff"), "{said}");
}

#[test]
fn files_of_other_models_are_not_compared() {
    let file = multiply(1, 2, "model.json");
    let other = Temporary::new("other-model.json");
    let text = std::fs::read_to_string(&file.0).unwrap();
    std::fs::write(&other.0, text.replace("\"clock_mhz\":1300", "\"clock_mhz\":1000")).unwrap();
    let output = diff(&file.0, &other.0, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said, "tuff: the files have different models: clock_mhz 1300 and 1000\n");
}

/// Its shaders have prologues, which each worker runs once.
#[test]
fn the_city_costs_the_same_on_any_thread_count() {
    let run = |threads| {
        let (file, text) = measured("{\"Own\":\"First\"}\n", threads, &format!("city-{threads}.json"));
        assert!(text.contains("Span"), "{text}");
        std::fs::read_to_string(&file.0).unwrap()
    };
    let one = run(1);
    let json: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert!(json["total"]["MaliTexSample"].as_f64() > Some(1e6));
    for threads in [2, 3] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let file = multiply(1, 2, "file.json");
    let nowhere = Temporary::new("nowhere.json");
    let other = Temporary::new("other.json");
    std::fs::write(&other.0, "{}").unwrap();
    for (b, limit, say) in [
        (&nowhere.0, "fma=1%", "nowhere.json"),
        (&other.0, "fma=1%", "not a file of `tuff run --counters`"),
        (&file.0, "fma", "NAME=PERCENT"),
        (&file.0, "fma=much", "much is not a number"),
        (&file.0, "unheard=1%", "no counter is called unheard"),
    ] {
        let output = diff(&file.0, b, &[limit]);
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{limit}: {why}");
        assert!(why.contains(say), "{why}");
    }
}

/// A file with these workloads: device, label, name, shaders, FMAs.
fn written(name: &str, rows: &[(u64, &str, &str, &str, u64)]) -> Temporary {
    let file = Temporary::new(name);
    let row = |&(device, label, name, shaders, fma): &(u64, &str, &str, &str, u64)| {
        serde_json::json!({
            "device": device, "queue": 0, "kind": "dispatch", "label": label, "name": name, "shaders": shaders, "times": 1,
            "begin_ns": 0, "end_ns": 9, "elapsed_ns": 9, "jobs": [], "counters": { "TuffFmaInstr": fma, "MaliGPUActiveCy": fma }
        })
    };
    let all: u64 = rows.iter().map(|r| r.4).sum();
    let rows: Vec<_> = rows.iter().map(row).collect();
    let total: serde_json::Map<_, _> = (0..60)
        .map(|i| (format!("Own{i}"), (all * (i + 1)).into()))
        .chain([("TuffFmaInstr".into(), all.into())])
        .collect();
    let v = serde_json::json!({ "version": 1, "gpu": "x", "total": total, "workloads": rows, "frames": [] });
    std::fs::write(&file.0, v.to_string()).unwrap();
    file
}

fn ended(output: &Output) -> (Option<i32>, String, String) {
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The same tests in another order, where one shader got 75 % dearer and another cheaper by as much: a gate sees it.
#[test]
fn another_order_hides_nothing() {
    let before =
        written("order-a.json", &[(0, "", "main 1x1x1", "aaaa", 400), (1, "", "main 2x1x1", "bbbb", 700)]);
    let after =
        written("order-b.json", &[(0, "", "main 2x1x1", "bbbb", 400), (1, "", "main 1x1x1", "cccc", 700)]);
    let (code, _, said) = ended(&diff(&before.0, &after.0, &["fma=2%"]));
    assert_eq!(code, Some(1));
    assert!(said.contains("TuffFmaInstr of dispatch main 1x1x1: 400 to 700, +75.00 %"), "{said}");
    let same =
        written("order-c.json", &[(0, "", "main 2x1x1", "bbbb", 700), (1, "", "main 1x1x1", "aaaa", 400)]);
    assert_eq!(
        ended(&diff(&before.0, &same.0, &["fma=0%"])),
        (Some(0), "no difference\n".into(), String::new())
    );
}

#[test]
fn what_has_vanished_and_what_matches_nothing_fails() {
    let before = written("gone-a.json", &[(0, "sky", "main", "aaaa", 4), (0, "shadows", "main", "bbbb", 7)]);
    let after = written("gone-b.json", &[(0, "sky", "main", "aaaa", 4)]);
    let rules = Temporary::new("gone.toml");
    std::fs::write(&rules.0, "[[workloads]]\nmatch = 'shadow maps'\ncounters = { fma = 0 }\n").unwrap();
    let run = |more: &[&str]| {
        let mut diff = tuff();
        diff.arg("diff").args([&before.0, &after.0]).args(more);
        ended(&diff.output().unwrap())
    };
    // Who sets no limit wants to see, not to judge.
    assert_eq!(run(&[]).0, Some(0));
    let (code, _, said) = run(&["--max-increase", "fma=0"]);
    assert!(code == Some(1) && said.contains("vanished: shadows: dispatch main"), "{said}");
    assert_eq!(run(&["--max-increase", "fma=0", "--allow", "vanished"]).0, Some(0));
    let with = ["--thresholds", rules.0.to_str().unwrap()];
    let (code, _, said) = run(&[&with[..], &["--allow", "vanished"]].concat());
    assert!(code == Some(1) && said.contains("no workload has \"shadow maps\" in its line"), "{said}");
    assert_eq!(run(&[&with[..], &["--allow", "vanished", "--allow", "unmatched"]].concat()).0, Some(0));
    let junit = Temporary::new("gone.xml");
    let (code, _, _) = run(&[&with[..], &["--junit", junit.0.to_str().unwrap()]].concat());
    let xml = std::fs::read_to_string(&junit.0).unwrap();
    assert!(code == Some(1) && xml.contains(" type=\"missing\">") && xml.contains("shadow maps"), "{xml}");
}

/// As many rows as one reads: those with a limit, or the worst; --all has the others.
#[test]
fn tables_are_as_long_as_one_reads() {
    let (before, after) = (
        written("rows-a.json", &[(0, "", "main", "a", 4)]),
        written("rows-b.json", &[(0, "", "main", "b", 7)]),
    );
    let run = |more: &[&str]| {
        let mut diff = tuff();
        diff.arg("diff").args([&before.0, &after.0]).args(more);
        ended(&diff.output().unwrap()).1
    };
    let counters = |text: &str| text.lines().filter(|l| l.ends_with('%')).count();
    let some = run(&[]);
    assert!(counters(&some) == 20 && some.ends_with("and 41 more that differ: --all shows them\n"), "{some}");
    assert_eq!(counters(&run(&["--all"])), 61);
    let limited = run(&["--max-increase", "fma=1", "--max-increase", "time=0"]);
    assert_eq!(counters(&limited), 2, "{limited}");
    let names: Vec<_> = limited.lines().filter(|l| l.starts_with("  Tuff")).collect();
    assert_eq!(names.len(), 2, "of the total and the workload: {limited}");
    // What does not hold comes first.
    let one = run(&["--max-increase", "fma=100", "--max-increase", "Own3=1"]);
    assert!(one.lines().nth(2).unwrap().contains("Own3"), "{one}");
}

/// The driver would take another model for a wrong one: `tuff` does not.
#[test]
fn a_wrong_model_is_an_error() {
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/city.frag.spv");
    for arguments in [
        &["run", "--", "true"][..],
        &["gl", "--", "true"],
        &["demo"],
        &["info"],
        &["shader", module],
        &["overhead"],
    ] {
        let output = tuff().args(arguments).env("TUFF_GPU", "g721").output().unwrap();
        let (code, out, said) = ended(&output);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{arguments:?}: {said}");
        assert!(said.contains("g721"), "{arguments:?}: {said}");
    }
    assert!(tuff().args(["shader", module]).env("TUFF_GPU", "small").output().unwrap().status.success());
}
