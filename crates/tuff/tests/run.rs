//! `tuff run` with programs of several processes, with none that uses the device, and with signals.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const TUFF: &str = env!("CARGO_BIN_EXE_tuff");

/// Runs `tuff` with these arguments: its exit code, and what it says on stderr.
fn tuff(arguments: &[&str]) -> (Option<i32>, String) {
    let done = Command::new(TUFF)
        .args(arguments)
        .env("TUFF_THREADS", "2")
        .env("TUFF_CONFORMANCE", "1.4.0.0")
        .output()
        .unwrap();
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// A shell's line that runs kernels in a process of their own.
fn process(folder: &Path, kernels: &[&str]) -> String {
    let request = |k: &&str| json!({ "Output": { "kernel": k, "path": folder.join(k) } }).to_string();
    let requests: Vec<String> = kernels.iter().map(request).collect();
    format!("printf '%s\\n' '{}' | '{TUFF}' child > /dev/null", requests.join("' '"))
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Counters of one process alone.
fn alone(folder: &Path, kernel: &str) -> Value {
    let file = folder.join(format!("{kernel}.json"));
    let (code, said) =
        tuff(&["run", "--counters", file.to_str().unwrap(), "--", "sh", "-c", &process(folder, &[kernel])]);
    assert_eq!(code, Some(0), "{said}");
    read(&file)
}

/// Processes one after the other and side by side: nothing is lost, and the file is the same whichever is faster.
#[test]
fn every_process_is_counted() {
    let folder = temporary::folder("tuff-").unwrap();
    let at = |name: &str| folder.path().join(name);
    let [a, b] = ["saxpy", "sgemm"].map(|k| alone(folder.path(), k));
    let shaders = at("alone");
    let (code, said) = tuff(&[
        "run",
        "--shaders",
        shaders.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        &process(folder.path(), &["saxpy"]),
    ]);
    assert_eq!(code, Some(0), "{said}");
    let of = std::fs::read_dir(&shaders)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "json"));
    std::fs::rename(of.unwrap(), at("alone/compute-main.json")).unwrap();
    let [one, two] = ["saxpy", "sgemm"].map(|k| process(folder.path(), &[k]));
    let mut texts = vec![];
    for (name, script) in
        [("row", format!("{one}; {two}; {one}")), ("beside", format!("{two} & {one} & {one} & wait"))]
    {
        let (file, capture) = (at(&format!("{name}.json")), at(name));
        let (code, said) = tuff(&[
            "run",
            "--check",
            "--counters",
            file.to_str().unwrap(),
            "--capture",
            capture.to_str().unwrap(),
            "--shaders",
            at(&format!("{name}-shaders")).to_str().unwrap(),
            "--",
            "sh",
            "-c",
            &script,
        ]);
        assert!(code == Some(0) && said.ends_with(" 0 violated\n"), "{said}");
        texts.push((std::fs::read_to_string(&file).unwrap(), read(&capture.join("capture.json"))));
    }
    assert!(texts[0] == texts[1]);
    let (sum, capture) = (serde_json::from_str::<Value>(&texts[0].0).unwrap(), &texts[0].1);
    let number = |v: &Value, name: &str| v["total"][name].as_u64().unwrap();
    for name in ["TuffFmaInstr", "MaliGPUActiveCy", "MaliExtBusRdBy"] {
        assert_eq!(number(&sum, name), 2 * number(&a, name) + number(&b, name), "{name}");
        assert_eq!(number(capture, name), number(&sum, name), "{name}");
    }
    let list = |v: &'_ Value, of: &str| v[of].as_array().unwrap().clone();
    assert_eq!(list(&sum, "workloads").len(), 2 * list(&a, "workloads").len() + list(&b, "workloads").len());
    // Devices are numbered on, whatever a ratio is of.
    let devices: Vec<u64> =
        list(&sum, "processes").iter().map(|p| p["first_device"].as_u64().unwrap()).collect();
    assert_eq!((devices, &sum["processes"][0]["program"]), (vec![0, 1, 2], &json!("tuff")));
    for run in list(capture, "runs") {
        let w = &capture["workloads"][run["workload"].as_u64().unwrap() as usize];
        assert_eq!(
            w["times"].as_u64(),
            Some(list(capture, "runs").iter().filter(|r| r["workload"] == run["workload"]).count() as u64)
        );
    }
    let of_others = |v: &Value| v["total"]["MaliFMAUtil"].clone();
    assert!(of_others(&sum).as_f64() < Some(100.0), "{}", of_others(&sum));
    // Two processes ran one of the shaders.
    let executed = |entry: std::fs::DirEntry| {
        let file = entry.path();
        (file.extension()? == "json").then(|| read(&file)["blocks"][0]["values"][1].as_u64().unwrap())
    };
    let mut threads: Vec<u64> =
        std::fs::read_dir(at("beside-shaders")).unwrap().filter_map(|e| executed(e.unwrap())).collect();
    threads.sort_unstable();
    assert_eq!(threads.len(), 2, "{threads:?}");
    // 512 × 512 threads of the product, once; the other's were run twice as often as by one process.
    let once = read(&at("alone/compute-main.json"))["blocks"][0]["values"][1].as_u64().unwrap();
    let mut expected = [512 * 512, 2 * once];
    expected.sort_unstable();
    assert_eq!(threads, expected);
}

/// A process's number may come again, as when a program becomes another: a file for each.
#[test]
fn a_number_that_comes_again_is_another_process() {
    let folder = temporary::folder("tuff-").unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(
        at("request"),
        json!({ "Output": { "kernel": "saxpy", "path": at("out") } }).to_string() + "\n",
    )
    .unwrap();
    let script = format!(
        "echo sh > \"$TUFF_PROCESSES/$$\"; exec '{TUFF}' child < '{}' > /dev/null",
        at("request").display()
    );
    let pattern = at("own-%p.json");
    let run = Command::new(TUFF)
        .args(["run", "--must-use", "--", "sh", "-c", &script])
        .env("TUFF_COUNTERS", &pattern)
        .env("TUFF_CONFORMANCE", "1.4.0.0")
        .output()
        .unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    let names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with("own-"))
        .collect();
    assert!(names.len() == 1 && names[0].ends_with(".2.json"), "{names:?}");
}

/// Whoever runs without Tuff hears of it, once, and it is a failure where something was to be measured.
#[test]
fn a_program_that_never_used_tuff_is_told_of() {
    let folder = temporary::folder("tuff-").unwrap();
    let file = folder.path().join("a.json");
    let file = file.to_str().unwrap();
    let never = "tuff: sh never created a device on Tuff";
    let sh = |options: &[&str], script: &str| {
        let arguments: Vec<&str> = [&["run"], options, &["--", "sh", "-c", script]].concat();
        tuff(&arguments)
    };
    assert_eq!(sh(&[], "true"), (Some(0), format!("{never}\n")));
    assert_eq!(sh(&["--must-use"], "true"), (Some(1), format!("{never}\n")));
    assert_eq!(sh(&["--must-use"], "exit 7").0, Some(7));
    let nothing = format!("{never}: nothing was measured\n");
    for what in ["--counters", "--trace", "--report", "--capture", "--shaders", "--workloads"] {
        std::fs::write(file, "an earlier run's").unwrap();
        let path =
            if ["--capture", "--shaders"].contains(&what) { folder.path().to_str().unwrap() } else { file };
        assert_eq!(sh(&[what, path], "true"), (Some(1), nothing.clone()), "{what}");
    }
    assert_eq!(sh(&["--counters", file, "--check"], "true"), (Some(1), nothing.clone()));
    assert!(!Path::new(file).exists());
    let (code, said) = sh(&["--counters", file], "exit 3");
    assert_eq!((code, said), (Some(3), format!("{nothing}tuff: sh: exit status: 3\n")));
    // A child of a child that did.
    let script = format!("sh -c \"{}\"", process(folder.path(), &["saxpy"]).replace('"', "\\\""));
    assert_eq!(sh(&["--must-use"], &script), (Some(0), String::new()));
    // One that a signal ends after it has created a device leaves nothing, and that is said.
    let killed =
        format!("(printf '%s\\n' '\"Hello\"'; sleep 60) | '{TUFF}' child | (head -c 1; kill -KILL 0)");
    let (code, said) = sh(
        &["--counters", file],
        &format!("setsid sh -c \"{}\" > /dev/null; true", killed.replace('"', "\\\"")),
    );
    assert!(code == Some(1) && said.contains("has left nothing: a signal"), "{code:?} {said}");
    assert!(said.ends_with("sh has left no counters\n"), "{said}");
}

#[test]
fn the_demo_is_measured_as_any_program() {
    let folder = temporary::folder("tuff-").unwrap();
    let (file, rows) = (folder.path().join("a.json"), folder.path().join("a.csv"));
    let out = folder.path().join("city.png");
    let demo = [
        "--",
        TUFF,
        "demo",
        "--only",
        "city",
        "--rounds",
        "1",
        "--columns",
        "0",
        "--out",
        out.to_str().unwrap(),
    ];
    let options =
        ["run", "--check", "--counters", file.to_str().unwrap(), "--workloads", rows.to_str().unwrap()];
    let (code, said) = tuff(&[&options[..], &demo].concat());
    assert_eq!(code, Some(0), "{said}");
    let counters = read(&file);
    // One of one thread and one of all, and what they drew.
    assert!(counters["processes"].as_array().unwrap().len() >= 2, "{}", counters["processes"]);
    let names: Vec<&str> =
        counters["workloads"].as_array().unwrap().iter().map(|w| w["name"].as_str().unwrap()).collect();
    assert!(names.iter().any(|n| n.contains("1280x720")), "{names:?}");
    let rows = std::fs::read_to_string(rows).unwrap();
    assert_eq!(rows.lines().filter(|l| l.starts_with("device,")).count(), 1);
    assert!(rows.lines().filter(|l| l.contains("1280x720")).count() >= 2, "{rows}");
}

/// What somebody sends to `tuff run` is meant for the program.
#[test]
fn signals_reach_the_program() {
    let script = "trap 'exit 9' TERM; kill -TERM $PPID; sleep 5 & wait";
    assert_eq!(tuff(&["run", "--", "sh", "-c", script]).0, Some(9));
    assert_eq!(tuff(&["run", "--", "sh", "-c", "kill -TERM $$"]).0, Some(128 + 15));
}
