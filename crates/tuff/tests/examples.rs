//! The examples of the pages on counters: those in C compile without a warning, and say what those in Rust say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples")
}

/// What a program says; it must succeed.
fn said(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{stderr}");
    String::from_utf8(stdout).expect("text")
}

/// An example in C, compiled; `None`: it cannot be here, which is said.
fn compiled(name: &str, headers: &[&str], libraries: &[&str]) -> Option<PathBuf> {
    let absent = headers.iter().find(|h| !Path::new("/usr/include").join(h).exists());
    if let Some(header) = absent {
        not_run::say(&format!("docs/examples/{name}.c"), &format!("{header} in /usr/include"));
        return None;
    }
    let program = client::scratch(name).expect("a temporary folder");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    cc.arg(examples().join(format!("{name}.c"))).args(libraries);
    said(cc);
    Some(program)
}

/// Runs it with `tuff COMMAND`, and removes it.
fn run(command: &str, program: &Path, shaders: &[&str]) -> String {
    let mut tuff = Command::new(env!("CARGO_BIN_EXE_tuff"));
    tuff.args([command, "--"]).arg(program).args(shaders.iter().map(|s| examples().join(s)));
    let text = said(tuff);
    std::fs::remove_file(program).expect("it was made here");
    text
}

fn rust_example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples");
    let program = folder.join(name);
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    program
}

/// What the example in Rust of this name says.
fn in_rust(name: &str) -> String {
    said(of_rust(name, ""))
}

/// The same as a command, with interfaces like this.
fn of_rust(name: &str, interfaces: &str) -> Command {
    let program = rust_example(name);
    let mut tuff = Command::new(env!("CARGO_BIN_EXE_tuff"));
    tuff.args(["run", "--"]).arg(program).env("TUFF_INTERFACES", interfaces);
    tuff
}

/// Interfaces as drivers of hardware have them: the examples know them all.
#[test]
fn interfaces_of_hardware() {
    let query = |interfaces: &str| of_rust("counters_query", interfaces);
    let tuffs = in_rust("counters_query");
    // Each pass counts the same dispatch, but what the L2 and the GPU's time had before.
    let whole = |text: &str| ["Compute jobs", "Compute tasks", "Compute warps"].map(|n| value(text, n));
    assert_eq!(whole(&said(query("passes=4"))), whole(&tuffs));
    assert_eq!(whole(&said(query("storage=int32"))), whole(&tuffs));
    for storage in ["float32", "float64"] {
        let text = said(query(&format!("storage={storage}")));
        assert!(text.contains("Compute tasks: 64.000"), "{text}");
    }
    // The lock: nobody has it, somebody always has it.
    assert_eq!(said(query("lock=exclusive")), tuffs);
    let refused = query("lock=busy").output().expect("it runs");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && told.contains("has held the profiling lock"), "{told}");
    // Regions, turned upside down.
    let rows = |text: String| text.lines().skip(1).map(String::from).collect::<Vec<_>>();
    let turned = rows(said(of_rust("counters_by_region", "regions=rotated")));
    let turned: Vec<String> =
        turned.iter().rev().map(|l| l.split(' ').rev().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(turned, rows(in_rust("counters_by_region")));
    // A shader as one block: all threads of the four.
    let blocks = |interfaces: &str| said(of_rust("counters_of_blocks", interfaces));
    let text = blocks("blocks=shader,stages=merged");
    assert_eq!(text.matches("block ").count(), 1, "{text}");
    assert_eq!(value(&text, "Executed threads"), 2 * 4096 + 2 * 2048);
    // In C, the same.
    let Some(c) = compiled("performance_query", &["vulkan/vulkan.h"], &["-lvulkan"]) else { return };
    let mut tuff = Command::new(env!("CARGO_BIN_EXE_tuff"));
    tuff.args(["run", "--"]).arg(&c).arg(examples().join("double.spv"));
    tuff.env("TUFF_INTERFACES", "passes=4,storage=uint32,lock=exclusive");
    let text = said(tuff);
    std::fs::remove_file(&c).expect("it was made here");
    assert_eq!(whole(&text), whole(&tuffs));
}

fn value(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|l| l.trim().strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().expect("a number")
}

#[test]
fn performance_queries() {
    let rust = in_rust("counters_query");
    // § double.comp: 4096 numbers, workgroups of 64.
    assert_eq!([value(&rust, "Compute jobs"), value(&rust, "Compute tasks")], [1, 64]);
    let Some(c) = compiled("performance_query", &["vulkan/vulkan.h"], &["-lvulkan"]) else { return };
    assert_eq!(run("run", &c, &["double.spv"]), rust);
}

#[test]
fn blocks_of_a_shader() {
    let rust = in_rust("counters_of_blocks");
    let blocks: Vec<&str> = rust.split("block ").skip(1).collect();
    // Half of the numbers are odd, in each warp of 16; the other blocks are the beginning and the end.
    let threads: Vec<u64> = blocks.iter().map(|b| value(b, "Executed threads")).collect();
    let diverged: Vec<u64> = blocks.iter().map(|b| value(b, "Diverged warps")).collect();
    assert_eq!(threads, [4096, 2048, 2048, 4096]);
    assert_eq!(diverged, [0, 256, 256, 0]);
    let Some(c) = compiled("shader_instrumentation", &["vulkan/vulkan.h"], &["-lvulkan"]) else { return };
    assert_eq!(run("run", &c, &["double.spv"]), rust);
}

#[test]
fn regions_of_a_pass() {
    let rust = in_rust("counters_by_region");
    let (head, rows) = rust.split_once('\n').expect("lines");
    assert_eq!(head, "Main phase active cycles, by regions of 64x64");
    let rows: Vec<Vec<u32>> =
        rows.lines().map(|l| l.split(' ').map(|n| n.parse().expect("a number")).collect()).collect();
    assert!(rows.len() == 3 && rows.iter().all(|r| r.len() == 5), "{rust}");
    // The triangle covers the middle and no corner.
    for corner in [rows[0][0], rows[0][4], rows[2][0], rows[2][4]] {
        assert!(corner > 0 && corner < rows[1][2], "{rust}");
    }
    let Some(c) = compiled("counters_by_region", &["vulkan/vulkan.h"], &["-lvulkan"]) else { return };
    assert_eq!(run("run", &c, &["triangle.vert.spv", "triangle.frag.spv"]), rust);
}

#[test]
fn rows_of_the_layer() {
    let with_layer = |program: &Path, shaders: &[&str]| {
        let rows = client::scratch("rows.csv").expect("a temporary folder");
        let mut tuff = Command::new(env!("CARGO_BIN_EXE_tuff"));
        tuff.args(["run", "--"]).arg(program).args(shaders.iter().map(|s| examples().join(s))).arg(&rows);
        tuff.env("VK_LAYER_PATH", client::drivers::layer_folder().expect("the layer"));
        said(tuff);
        let text = std::fs::read_to_string(&rows).expect("rows");
        std::fs::remove_file(&rows).expect("they are there");
        let (head, row) = text.trim_end().split_once('\n').expect("a head and a row");
        let at = |name: &str| head.split(',').position(|c| c == name).expect(name);
        ["kind", "MaliCompQueueTask", "TuffSfuInstr"].map(|n| row.split(',').nth(at(n)).expect(n).to_string())
    };
    // 4096 numbers in workgroups of 64. All are 0, so none is tripled. Each of the 256 warps of 16 has four SFU instructions: two shifts for
    // the number's index and place, the remainder by two (logic), and a shift that doubles.
    assert_eq!(with_layer(&rust_example("counters_of_workloads"), &[]), ["dispatch", "64", "1024"]);
    let Some(c) = compiled("layer_settings", &["vulkan/vulkan.h"], &["-lvulkan"]) else { return };
    // From 0 up: each warp has odd numbers too, and a product for them.
    let rows = with_layer(&c, &["double.spv"]);
    std::fs::remove_file(&c).expect("it was made here");
    assert_eq!(rows, ["dispatch", "64", "1280"]);
}

#[test]
fn monitors_of_opengl() {
    let Some(c) = compiled("gl_monitor", &["EGL/egl.h", "GL/glext.h"], &["-lEGL", "-lGL"]) else { return };
    if !Path::new("/usr/lib/x86_64-linux-gnu/dri/zink_dri.so").exists() {
        return not_run::say("docs/examples/gl_monitor.c", "Mesa's zink");
    }
    // 300 vertices of triangles.
    assert_eq!(value(&run("gl", &c, &[]), "Triangle primitives"), 100);
}
