//! RenderDoc on Tuff (docs/renderdoc.md): a frame of vkcube is captured and replayed, its draw has Tuff's counters, and a pixel its
//! history.

use client::drivers::tuff_icd;
use std::path::Path;
use std::process::Command;
use xserver::XServer;

/// What docs/examples/renderdoc_frame.py prints of vkcube's frame 240.
fn printed(threads: &str) -> String {
    let server = XServer::new(24, &[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = temporary::folder("tuff-renderdoc-").unwrap();
    let icd = tuff_icd();
    // Debian's module is of Debian's interpreter.
    let output = Command::new("/usr/bin/python3")
        .arg(root.join("docs/examples/renderdoc_frame.py"))
        // The frame is asked for while the program runs: 240 frames take four seconds.
        .args(["240", "/usr/bin/vkcube", "--c", "300", "--width", "64", "--height", "64"])
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("DISPLAY", &server.name)
        .env("VK_DRIVER_FILES", &icd)
        .env("VK_ICD_FILENAMES", &icd)
        .env("TUFF_THREADS", threads)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|l| !l.starts_with("Selected GPU")).map(|l| format!("{l}\n")).collect()
}

#[test]
fn a_frame_is_captured_replayed_and_counted() {
    let test = "renderdoc::a_frame_is_captured_replayed_and_counted";
    if !Path::new("/usr/lib/python3/dist-packages/renderdoc.so").exists() {
        return not_run::say(test, "Debian's python3-renderdoc");
    }
    if !Path::new("/usr/bin/vkcube").exists() {
        return not_run::say(test, "vkcube in /usr/bin");
    }
    let text = printed("1");
    let lines: Vec<&str> = text.lines().collect();
    // RenderDoc's own statistics of pipelines, and those of VK_KHR_performance_query.
    let counters: u32 = lines[0].strip_suffix(" counters").unwrap().parse().unwrap();
    assert!(counters > 300, "{text}");
    // Twelve triangles; all faces are rasterised, because vkcube culls none.
    assert!(
        lines[1].starts_with("draw vkCmdDraw() 36: Input Vertices Read 36, Rasterized Primitives 12, "),
        "{text}"
    );
    let of = |name: &str| -> u64 {
        let at = lines[1].split(", ").find_map(|part| part.strip_prefix(name));
        at.unwrap_or_else(|| panic!("no {name}: {text}")).trim().parse().unwrap()
    };
    assert!(of("PS Invocations") > 64 * 64 / 8 && of("GPU active cycles") > 0, "{text}");
    assert!(of("Arithmetic FMA pipe instructions") > 0, "{text}");
    // vkcube clears to 0.2; the cube is in the middle.
    let history: Vec<&str> = lines[2..].iter().filter_map(|l| l.strip_prefix("pixel 32 32 after ")).collect();
    assert_eq!(history.len(), 2, "{text}");
    assert!(history[0].ends_with(": [51, 51, 51]") && !history[1].ends_with(": [51, 51, 51]"), "{text}");
    assert_eq!(printed("2"), text, "the same on two threads");
}
