//! `tuff coverage` on a shader whose counts are worked out by hand: thread i of 16 runs `coverage/collatz.comp` with the value i.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// How often each line with code runs. A value n is halved as often as it has bits: 0 of no bits, 1 of one, 2 of two, 4 of three and 8
/// of four are 0 + 1 + 4 + 12 + 32 = 49 halvings; each of 16 threads checks once more. Threads 12 to 15 enter line 24, none enters 27.
const LINES: [(u32, u64); 19] = [
    (8, 49),
    (12, 0),
    (16, 16),
    (17, 16),
    (18, 16),
    (19, 65),
    (20, 49),
    (21, 49),
    (23, 16),
    (24, 4),
    (26, 16),
    (27, 0),
    (29, 16),
    (31, 16),
    (33, 4),
    (34, 4),
    (36, 4),
    (37, 4),
    (39, 8),
];
const FUNCTIONS: [(u32, &str, u64); 3] = [(8, "halved", 49), (16, "main", 16), (12, "never", 0)];
/// The default of a switch comes first.
const BRANCHES: [(u32, &[u64]); 4] = [(19, &[49, 16]), (23, &[4, 12]), (26, &[0, 16]), (31, &[8, 4, 4])];

/// The tracefile of so many equal runs, of the source at this path.
fn expected(source: &Path, times: u64) -> String {
    let mut out = format!("TN:\nSF:{}\n", source.display());
    FUNCTIONS.iter().for_each(|f| out += &format!("FN:{},{}\n", f.0, f.1));
    FUNCTIONS.iter().for_each(|f| out += &format!("FNDA:{},{}\n", f.2 * times, f.1));
    out += "FNF:3\nFNH:2\n";
    for (line, ways) in BRANCHES {
        ways.iter().zip(0..).for_each(|(n, way)| out += &format!("BRDA:{line},0,{way},{}\n", n * times));
    }
    out += "BRF:9\nBRH:8\n";
    LINES.iter().for_each(|(line, n)| out += &format!("DA:{line},{}\n", n * times));
    out + "LF:19\nLH:17\nend_of_record\n"
}

fn spirv(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn dispatch() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples").join("dispatch");
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    program
}

/// A folder to run in: no source of a shader is below it.
struct Place(temporary::Folder);

impl Place {
    fn new() -> Place {
        Place(temporary::folder("tuff-").unwrap())
    }

    /// Runs `tuff coverage` with these options on a shell's line, in which `$0` is a program that dispatches a shader, `$1` the shader.
    fn run(&self, options: &[&str], line: &str, shader: &str, settings: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
        command.current_dir(self.0.path()).arg("coverage").args(options);
        command.args(["--", "sh", "-c", line]).arg(dispatch()).arg(spirv(shader));
        command.envs(settings.iter().copied()).output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

const SHADER: &str = "coverage/collatz.spv";
const ONCE: &str = r#""$0" "$1" 1"#;
const TWICE: &str = r#""$0" "$1" 1 && "$0" "$1" 1"#;

/// Where the source is written, from the folder of the run.
fn source() -> PathBuf {
    Path::new("coverage.sources/collatz.comp").into()
}

#[test]
fn counts_are_those_worked_out_by_hand() {
    for (shader, settings) in [
        (SHADER, vec![]),
        // OpLine, and a source to which glslang has added a preamble.
        ("coverage/collatz.g.spv", vec![]),
        (SHADER, vec![("TUFF_THREADS", "1")]),
        (SHADER, vec![("TUFF_THREADS", "2"), ("TUFF_JIT", "0")]),
    ] {
        let place = Place::new();
        let done = place.run(&[], ONCE, shader, &settings);
        assert!(done.status.success(), "{}", said(&done));
        assert_eq!(place.read("coverage.info"), expected(&source(), 1), "{shader} {settings:?}");
        let text = std::fs::read_to_string(spirv("coverage/collatz.comp")).unwrap();
        assert_eq!(std::fs::read_to_string(place.0.path().join(source())).unwrap(), text);
        assert!(
            said(&done)
                .contains("17 of 19 lines (89.5 %), 2 of 3 functions (66.7 %), 8 of 9 branches (88.9 %)"),
            "{}",
            said(&done)
        );
    }
}

#[test]
fn processes_and_runs_add_up() {
    let place = Place::new();
    let options = ["-o", "both.info", "--sources", "texts"];
    let path = Path::new("texts/collatz.comp");
    let run = |options: &[&str], line: &str, times| {
        let done = place.run(options, line, SHADER, &[]);
        assert!(done.status.success(), "{}", said(&done));
        assert_eq!(place.read("both.info"), expected(path, times));
    };
    run(&options, TWICE, 2);
    run(&[&options[..], &["--append"]].concat(), ONCE, 3);
    // Without --append the file begins anew.
    run(&options, ONCE, 1);
}

#[test]
fn too_few_lines_fail() {
    // 17 of 19 lines are 89.47 %.
    let place = Place::new();
    for (least, passes) in [("89.4", true), ("89.5", false)] {
        let done = place.run(&["--fail-under", least], ONCE, SHADER, &[]);
        assert_eq!(done.status.code(), Some(if passes { 0 } else { 1 }), "{least}: {}", said(&done));
        assert_eq!(place.read("coverage.info"), expected(&source(), 1));
    }
    // The program's own failure comes first.
    let done = place.run(&["--fail-under", "100"], &format!("{ONCE}; exit 7"), SHADER, &[]);
    assert_eq!(done.status.code(), Some(7), "{}", said(&done));
    for bad in ["101", "-1", "many", "NaN"] {
        let done = place.run(&[&format!("--fail-under={bad}")], ONCE, SHADER, &[]);
        assert_eq!(done.status.code(), Some(2), "{bad}");
    }
}

#[test]
fn nothing_counted_is_a_failure() {
    let place = Place::new();
    let done = place.run(&[], "true", SHADER, &[]);
    assert!(!done.status.success() && said(&done).contains("has run no shader on Tuff"), "{}", said(&done));
    let done = place.run(&[], ONCE, "coverage/bare.spv", &[]);
    assert!(!done.status.success(), "{}", said(&done));
    assert!(said(&done).contains("1 of 1 shaders have no line information"), "{}", said(&done));
    assert_eq!(place.read("coverage.info"), "");
}

#[test]
fn a_source_on_disk_is_not_written_again() {
    let place = Place::new();
    std::fs::copy(spirv("coverage/collatz.comp"), place.0.path().join("collatz.comp")).unwrap();
    let done = place.run(&[], ONCE, SHADER, &[]);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(place.read("coverage.info"), expected(Path::new("collatz.comp"), 1));
    assert!(!place.0.path().join("coverage.sources").exists());
}

#[test]
fn genhtml_reads_it() {
    if !not_run::has_program("genhtml") {
        return not_run::say("genhtml_reads_it", "genhtml (package lcov)");
    }
    let place = Place::new();
    let done = place.run(&[], ONCE, SHADER, &[]);
    assert!(done.status.success(), "{}", said(&done));
    let mut genhtml = Command::new("genhtml");
    genhtml.current_dir(place.0.path()).args(["--branch-coverage", "-o", "html", "coverage.info"]);
    let made = genhtml.output().unwrap();
    let out = String::from_utf8_lossy(&made.stdout);
    assert!(made.status.success(), "{out}{}", said(&made));
    assert!(out.contains("89.5% (17 of 19 lines)"), "{out}");
}
