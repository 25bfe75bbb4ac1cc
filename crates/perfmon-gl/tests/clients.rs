//! Programs that know the extension: Debian's piglit and apitrace, on each window system.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;

use common::{command, example, has_zink, printed};
use std::path::Path;
use xserver::XServer;

const PIGLIT: &str = "/usr/lib/x86_64-linux-gnu/piglit/bin";

/// An X server for a test, if it can have one.
fn server(test: &str) -> Option<XServer> {
    if !not_run::has_program("Xvfb") {
        not_run::say(test, "Xvfb (Debian's xvfb)");
        return None;
    }
    Some(XServer::new(24, &[]))
}

#[test]
fn piglits_programs_pass_on_each_window_system() {
    let test = "piglit's amd_performance_monitor programs";
    if !Path::new(PIGLIT).join("amd_performance_monitor_api").exists() {
        return not_run::say(test, "Debian's piglit");
    }
    if !has_zink(test) {
        return;
    }
    let Some(server) = server(test) else { return };
    for (platform, fbo) in [("surfaceless_egl", true), ("x11_egl", false), ("glx", false)] {
        for (program, parts) in [("api", 30), ("measure", 4)] {
            let mut command = command(Path::new(PIGLIT).join(format!("amd_performance_monitor_{program}")));
            command.arg("-auto").env("PIGLIT_PLATFORM", platform).env("DISPLAY", &server.name);
            if fbo {
                command.arg("-fbo");
            }
            let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let passed = text.matches(": \"pass\"").count();
            let other =
                [": \"fail\"", ": \"warn\"", ": \"skip\"", ": \"crash\""].iter().any(|o| text.contains(o));
            assert!(
                !other && passed >= parts,
                "{platform}, {program}: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

/// What zink makes of the driver's features and limits.
#[test]
fn glxinfo_says_4_6_core_and_es_3_2() {
    let test = "glxinfo -B";
    if !not_run::has_program("glxinfo") {
        return not_run::say(test, "Debian's mesa-utils");
    }
    if !has_zink(test) {
        return;
    }
    let Some(server) = server(test) else { return };
    let mut glxinfo = command("glxinfo");
    let text = printed(glxinfo.arg("-B").env("DISPLAY", &server.name).env_remove("LD_PRELOAD"));
    for line in [
        "OpenGL core profile version string: 4.6 (Core Profile)",
        "OpenGL version string: 4.6 (Compatibility Profile)",
        "OpenGL ES profile version string: OpenGL ES 3.2",
        "zink (Tuff",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// A program of two triangles a frame is traced, and replayed with counters. (`--pcalls` it refuses for this extension.)
#[test]
fn apitrace_prints_our_counters() {
    let test = "apitrace's --pframes and --pdrawcalls";
    if !not_run::has_program("apitrace") || !not_run::has_program("eglretrace") {
        return not_run::say(test, "Debian's apitrace");
    }
    if !has_zink(test) {
        return;
    }
    let Some(server) = server(test) else { return };
    let file = client::scratch("perfmon.trace").expect("a temporary folder");
    let mut trace = command("apitrace");
    trace.args(["trace", "--api", "egl", "-o"]).arg(&file).arg(example("perfmon_triangles"));
    printed(trace.env_remove("LD_PRELOAD"));
    let replay = |option: &str| {
        let mut replay = command("eglretrace");
        replay.arg(option).arg(&file).env("DISPLAY", &server.name);
        // A name that was asked for without room for its 0 has that as its last character.
        printed(&mut replay).replace('\0', "")
    };
    let list = replay("--list-metrics");
    for line in ["Group #0: GPU front en", "Metric #6: GPU active cycle", "Metric #214: Fragment warp"] {
        assert!(list.contains(line), "{line}: {list}");
    }
    for (option, row) in [("pframes", "frame\t"), ("pdrawcalls", "call\t")] {
        // More counters of one group than a session has: several passes.
        let many: Vec<String> = list
            .split("Group #3")
            .nth(1)
            .into_iter()
            .flat_map(|g| g.split("Group #").next())
            .flat_map(str::lines)
            .filter_map(|l| l.trim().strip_prefix("Metric #")?.split(':').next())
            .map(|id| format!("[3,{id}]"))
            .collect();
        assert!(many.len() > 32, "{list}");
        let text =
            replay(&format!("--{option}=GL_AMD_performance_monitor: [0,6],[3,214],{}", many.join(",")));
        let counted = |l: &&str| {
            let cells: Vec<&str> = l.split('\t').collect();
            l.starts_with(row)
                && cells.len() > many.len()
                && cells.iter().rev().take(many.len() + 2).any(|c| c.parse().is_ok_and(|v: u64| v > 0))
        };
        assert!(text.lines().any(|l| counted(&l)), "{option}: {text}");
    }
    let _ = std::fs::remove_file(&file);
}
