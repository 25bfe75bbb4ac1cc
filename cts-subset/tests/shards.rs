//! A run in parts, as cluster/slurm.sh and cluster/kubernetes.yaml have it, by processes of this machine: what `merge` writes is what
//! one run writes, but for the seconds. A script stands for deqp-vk.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const SHARDS: usize = 3;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn tool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cts-subset"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Results follow from the case's name: every seventh fails, every eleventh is not supported, one kills the process.
fn fake(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let script = r#"#!/bin/sh
for a in "$@"; do case $a in --deqp-caselist-file=*) list=${a#*=};; esac; done
while read -r c; do
    echo "Test case '$c'.."
    n=${c##*.}
    case $n in 40) kill -SEGV $$;; esac
    if [ $((n % 7)) = 3 ]; then echo "  Fail (wrong <$n>)"
    elif [ $((n % 11)) = 5 ]; then echo "  NotSupported (no)"
    else echo "  Pass (Pass)"; fi
done < "$list"
"#;
    let path = folder.join("deqp-vk");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Without what a clock says.
fn timeless(file: &Path) -> Value {
    fn strip(v: &mut Value) {
        match v {
            Value::Object(map) => {
                map.remove("seconds");
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut v = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    strip(&mut v);
    v
}

fn timeless_junit(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let mut parts = text.split(" time=\"");
    let first = parts.next().unwrap().to_string();
    parts.fold(first, |all, part| all + part.split_once('"').unwrap().1)
}

#[test]
fn merged_shards_are_the_one_run() {
    let folder = Folder(client::scratch("shards").unwrap());
    std::fs::create_dir_all(&folder.0).unwrap();
    let at = |name: &str| folder.0.join(name);
    let deqp = fake(&folder.0);
    let lists = [("one", 0..90), ("two", 90..131)].map(|(name, cases)| {
        let file = at(&format!("{name}.txt"));
        std::fs::write(&file, cases.map(|n| format!("{name}.{n}\n")).collect::<String>()).unwrap();
        file
    });
    let common: Vec<PathBuf> = [
        "--icd".into(),
        here("../icd.json"),
        "--list".into(),
        lists[0].clone(),
        "--list".into(),
        lists[1].clone(),
    ]
    .into();
    let mut whole = tool();
    whole.arg("--deqp-vk").arg(&deqp).args(&common).args(["--jobs", "2"]);
    whole.arg("--json").arg(at("whole.json")).arg("--junit").arg(at("whole.xml"));
    assert_eq!(whole.status().unwrap().code(), Some(1), "some cases fail");
    let results = timeless(&at("whole.json"));
    assert_eq!(results["cases"].as_object().unwrap().len(), 131);
    assert_eq!(results["cases"]["one.40"]["result"], "Crash");

    // A Slurm array with the ids 5, 7, 9, whose costs are measured; an indexed Job, without.
    let slurm = |i: usize| {
        let mut task = Command::new("sh");
        task.arg(here("cluster/slurm.sh")).arg(&deqp).arg(at("slurm")).args(&common);
        task.arg("--costs").arg(at("whole.json"));
        task.env("CTS_SUBSET", env!("CARGO_BIN_EXE_cts-subset"))
            .env("SLURM_ARRAY_TASK_ID", (5 + 2 * i).to_string());
        task.env("SLURM_ARRAY_TASK_COUNT", SHARDS.to_string());
        task.envs([
            ("SLURM_ARRAY_TASK_MIN", "5"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_CPUS_PER_TASK", "1"),
        ]);
        task.stdout(Stdio::null()).stderr(Stdio::null());
        task.spawn().unwrap()
    };
    std::fs::create_dir(at("kubernetes")).unwrap();
    let kubernetes = |i: usize| {
        let mut pod = tool();
        pod.arg("--deqp-vk").arg(&deqp).args(&common).arg("--shard").arg(format!("kubernetes/{SHARDS}"));
        pod.arg("--json").arg(at("kubernetes").join(format!("{i}.json")));
        pod.env("JOB_COMPLETION_INDEX", i.to_string()).spawn().unwrap()
    };
    let starts: [(&str, &dyn Fn(usize) -> Child); 2] = [("slurm", &slurm), ("kubernetes", &kubernetes)];
    for (kind, start) in starts {
        let parts: Vec<Child> = (0..SHARDS).map(start).collect();
        for mut part in parts {
            let code = part.wait().unwrap().code().unwrap();
            assert!(if kind == "slurm" { code == 0 } else { code <= 1 }, "{kind}: {code}");
        }
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(at(kind)).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), SHARDS);
        let sizes: Vec<_> = files.iter().map(|f| timeless(f)["cases"].as_object().unwrap().len()).collect();
        assert!(sizes.iter().all(|n| *n > 0) && sizes.iter().sum::<usize>() == 131, "{kind}: {sizes:?}");
        let merge = |files: &[PathBuf]| {
            let mut merge = tool();
            merge.arg("merge").args(files).arg("--json").arg(at("merged.json"));
            merge.arg("--junit").arg(at("merged.xml")).status().unwrap().code()
        };
        assert_eq!(merge(&files), Some(1), "as the whole run");
        assert_eq!(timeless(&at("merged.json")), results, "{kind}");
        assert_eq!(timeless_junit(&at("merged.xml")), timeless_junit(&at("whole.xml")), "{kind}");
        assert_eq!(merge(&files[1..]), Some(2), "a shard is missing");
    }
}
