//! A short run with fixed seeds on the library that cargo built beside this test: no call ends the process, tells of a
//! fault in the driver, or takes a minute.

use std::path::PathBuf;
use std::process::Command;

fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("the test has a path");
    let deps = exe.parent().expect("a test lies in a folder");
    let candidates = [deps.join("libvulkan_tuff.so"), deps.join("../libvulkan_tuff.so")];
    let newest = candidates.iter().filter_map(|p| Some((p.metadata().ok()?.modified().ok()?, p))).max();
    newest.unwrap_or_else(|| panic!("none of {candidates:?} is there")).1.clone()
}

fn fuzz(seed: &str, calls: &str) -> (bool, String) {
    let folder = temporary::folder("tuff-").expect("a temporary folder");
    let out = Command::new(env!("CARGO_BIN_EXE_api-fuzz"))
        .arg("--library")
        .arg(library())
        .args(["--seed", seed, "--calls", calls, "--each", "2500", "--folder"])
        .arg(folder.path())
        .output()
        .expect("the fuzzer runs");
    (out.status.success(), String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
}

/// Most of a run is waiting, so several go side by side.
#[test]
fn twenty_thousand_calls_find_nothing() {
    std::thread::scope(|s| {
        for seed in ["1", "2", "3", "4"] {
            s.spawn(move || {
                let (fine, said) = fuzz(seed, "5000");
                assert!(fine, "{said}");
                // The calls are not all refused at the door.
                let succeeded =
                    said.split(" succeeded").next().and_then(|s| s.rsplit(' ').next()?.parse::<u64>().ok());
                assert!(succeeded.is_some_and(|n| n > 150), "{said}");
            });
        }
    });
}
