//! `tuff debug` on shaders whose values are worked out by hand (`tests/debug`, comments `// expect NAME = VALUE`), which write what they
//! compute to a buffer too.

#[path = "debug/protocol.rs"]
mod protocol;

use protocol::Client;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug")
}

fn program() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples").join("debugged");
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    program
}

/// Each shader with the invocation that its comments are of.
const SHADERS: [(&str, &[&str]); 20] = [
    ("ints", &["--thread", "5"]),
    ("floats", &["--thread", "5"]),
    ("fused", &["--thread", "5"]),
    ("vectors", &["--thread", "5"]),
    ("matrices", &["--thread", "5"]),
    ("structs", &["--thread", "5"]),
    ("arrays", &["--thread", "5"]),
    ("loops", &["--thread", "5"]),
    ("calls", &["--thread", "5"]),
    ("divergence", &["--thread", "5"]),
    ("subgroups", &["--thread", "5"]),
    ("barriers", &["--thread", "5"]),
    ("atomics", &["--thread", "5"]),
    ("wide", &["--thread", "5"]),
    ("constants", &["--thread", "5"]),
    ("memory", &["--thread", "5"]),
    ("whole.vert", &["--vertex", "1"]),
    ("derivatives.frag", &["--pixel", "5,3"]),
    ("sampled.frag", &["--pixel", "5,3"]),
    ("discards.frag", &["--pixel", "5,3"]),
];

/// The program's arguments for a shader.
fn arguments(name: &str) -> Vec<PathBuf> {
    let file = |name: &str| folder().join(format!("{name}.spv"));
    match name.split_once('.') {
        None => vec![file(name)],
        Some((_, "vert")) => vec![file(name), file("derivatives.frag")],
        Some(_) => vec![file("whole.vert"), file(name)],
    }
}

fn source(name: &str) -> String {
    let name = if name.contains('.') { name.to_string() } else { format!("{name}.comp") };
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// `tuff debug` with these options on the program with these arguments, and commands on its input.
fn debug(options: &[&str], arguments: &[PathBuf], commands: &str, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
    command.arg("debug").args(options);
    if !arguments.is_empty() {
        command.arg("--").arg(program()).args(arguments);
    }
    answered(command.envs(settings.iter().copied()), commands)
}

fn answered(command: &mut Command, commands: &str) -> Output {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who has ended reads nothing.
    let _ = child.stdin.take().unwrap().write_all(commands.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Words that the program printed.
fn words(printed: &str) -> Vec<String> {
    let is_word = |l: &&str| {
        l.split_once(": ").is_some_and(|(k, v)| k.parse::<u32>().is_ok() && v.parse::<u32>().is_ok())
    };
    printed.lines().filter(is_word).map(String::from).collect()
}

#[test]
fn values_are_those_worked_out_by_hand() {
    let mut expected = 0;
    for (name, options) in SHADERS {
        let source = source(name);
        let all: Vec<(&str, &str)> =
            source.lines().filter_map(|l| l.strip_prefix("// expect ")?.split_once(" = ")).collect();
        assert!(all.len() >= 2, "{name}");
        let commands: String = all.iter().map(|e| format!("p {}\n", e.0)).collect();
        let done = debug(options, &arguments(name), &format!("end\n{commands}"), &[]);
        let said = text(&done.stdout);
        for (variable, value) in &all {
            let line = said.lines().find_map(|l| l.strip_prefix(&format!("{variable} = ")));
            let got = line.and_then(|l| l.rsplit_once(" (")).map(|l| l.0);
            assert_eq!(got, Some(*value), "{name}: {variable}\n{said}{}", text(&done.stderr));
            expected += 1;
        }
    }
    assert!(expected >= 80, "{expected}");
}

/// A debugged run writes what an undebugged one writes.
#[test]
fn debugging_changes_nothing() {
    for (name, options) in SHADERS {
        let mut plain = Command::new(env!("CARGO_BIN_EXE_tuff"));
        let plain = plain.args(["run", "--"]).arg(program()).args(arguments(name)).output().unwrap();
        let without = words(&text(&plain.stdout));
        assert!(!without.is_empty(), "{name}: {}", text(&plain.stderr));
        let with = debug(&[options, &["--list"]].concat(), &arguments(name), "", &[]);
        assert_eq!(words(&text(&with.stderr)), without, "{name}");
    }
}

/// Files are the same on every SIMD level, number of threads and with every kind of code.
#[test]
fn recordings_are_the_same_every_time() {
    let place = temporary::folder("tuff-debug-").unwrap();
    let levels = ["portable", "avx2", "avx512"];
    for (name, options) in [SHADERS[1], SHADERS[9], SHADERS[11], SHADERS[17], SHADERS[18]] {
        let mut first: Option<Vec<u8>> = None;
        let settings = levels.map(|l| ("TUFF_SIMD", l)).into_iter();
        let settings = settings.chain([
            ("TUFF_THREADS", "1"),
            ("TUFF_THREADS", "5"),
            ("TUFF_JIT", "0"),
            ("TUFF_JIT", "always"),
        ]);
        for setting in settings {
            let file = place.path().join("recording");
            let keep = ["--list", "-o", file.to_str().unwrap()];
            let done = debug(&[options, &keep].concat(), &arguments(name), "", &[setting]);
            let bytes = std::fs::read(&file)
                .unwrap_or_else(|e| panic!("{name} {setting:?}: {e}\n{}", text(&done.stderr)));
            match &first {
                None => first = Some(bytes),
                Some(first) => assert!(*first == bytes, "{name} with {setting:?}"),
            }
        }
    }
}

/// The places that a session stands at after each command.
fn walk(name: &str, options: &[&str], commands: &str) -> Vec<String> {
    let done = debug(options, &arguments(name), commands, &[]);
    let said = text(&done.stdout);
    let place = |l: &str| {
        let l = l.strip_prefix("step ").map_or(l, |l| l.split_once(' ').map_or(l, |l| l.1));
        l.split_once(": ").map_or(l, |l| l.0).to_string()
    };
    assert!(done.status.success(), "{said}{}", text(&done.stderr));
    said.lines().map(place).collect()
}

fn lines(of: &[u32]) -> Vec<String> {
    of.iter().map(|l| format!("calls.comp:{l}")).collect()
}

#[test]
fn steps_go_over_calls_into_them_and_back() {
    let thread = ["--thread", "5"];
    // The answers to `b` and to each step; the first line is where the session begins.
    let forwards = walk("calls", &thread, "b 25\nc\nn\nn\nn\nn\nn\nn\n");
    assert_eq!(forwards[2..8], lines(&[25, 26, 27, 28, 29, 30]), "{forwards:?}");
    assert_eq!(forwards[8..], ["lane 5 has ended"]);
    let back = walk("calls", &thread, "b 30\nc\nrn\nrn\nrn\nrn\nrn\n");
    assert_eq!(back[2..], lines(&[30, 29, 28, 27, 26, 25]), "{back:?}");
    let into = walk("calls", &thread, "b 27\nc\ns\ns\ns\ns\no\n");
    assert_eq!(into[2..], lines(&[27, 13, 9, 10, 13, 27]), "{into:?}");
    let back = walk("calls", &thread, "b 14\nc\nrs\nrs\nrs\nrs\n");
    assert_eq!(back[2..], lines(&[14, 13, 10, 9, 13]), "{back:?}");
    // The breakpoint is met in each of the two calls, and backwards again.
    let calls = walk("calls", &thread, "b 10\nc\nbt\nc\nbt\nrc\nbt\nrc\n");
    let expected = [
        "calls.comp:10",
        "#0 twice at calls.comp:10",
        "#1 main at calls.comp:26",
        "calls.comp:10",
        "#0 twice at calls.comp:10",
        "#1 both at calls.comp:13",
        "#2 main at calls.comp:27",
        "calls.comp:10",
        "#0 twice at calls.comp:10",
        "#1 main at calls.comp:26",
    ];
    assert_eq!(calls[2..12], expected, "{calls:?}");
}

#[test]
fn lanes_diverge() {
    let done = debug(&["--thread", "5"], &arguments("divergence"), "b 13\nc\nlanes\npl x\nlane 4\nc\n", &[]);
    let said = text(&done.stdout);
    // Odd lanes are in the branch; even ones have been in the other one, and wait.
    for lane in 0..16 {
        let state = if lane % 2 == 1 { "at divergence.comp:13" } else { "waits for divergence.comp" };
        let line = said
            .lines()
            .find(|l| l[1..].starts_with(&format!("lane {lane:2}: thread {lane},0,0: ")))
            .unwrap();
        assert!(line.contains(state), "{line}\n{said}");
        let x = if lane % 2 == 1 { 0 } else { 10 };
        assert!(said.contains(&format!("lane {lane}: x = {x}")), "{said}");
    }
}

#[test]
fn a_client_of_the_protocol() {
    let mut c = Client::new();
    let capabilities = c.ask("initialize", json!({ "adapterID": "tuff", "linesStartAt1": true }));
    assert_eq!(capabilities["supportsStepBack"], true);
    c.wait("initialized");
    let source = folder().join("calls.comp");
    let set = json!({ "source": { "path": source }, "breakpoints": [{ "line": 27 }] });
    assert_eq!(c.ask("setBreakpoints", set)["breakpoints"][0]["verified"], true);
    let launch =
        json!({ "program": program(), "args": arguments("calls"), "thread": [5], "stopOnEntry": false });
    c.send("launch", launch);
    assert_eq!(c.response()["success"], true);
    c.ask("configurationDone", json!({}));
    let stopped = c.wait("stopped");
    assert_eq!((&stopped["threadId"], &stopped["reason"]), (&json!(6), &json!("breakpoint")), "{stopped}");
    let threads = c.ask("threads", json!({}));
    assert_eq!(threads["threads"].as_array().unwrap().len(), 16);
    assert_eq!(threads["threads"][5]["name"], "lane 5: thread 5,0,0");
    let top = |c: &mut Client, thread: u64| {
        let stack = c.ask("stackTrace", json!({ "threadId": thread }));
        let frames = stack["stackFrames"].as_array().unwrap().clone();
        let place = |f: &Value| format!("{}:{}", f["name"].as_str().unwrap(), f["line"]);
        (frames[0]["id"].clone(), frames.iter().map(place).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(top(&mut c, 6).1, "main:27");
    for (command, thread, place) in [
        ("stepIn", 6, "both:13 main:27"),
        ("stepIn", 6, "twice:9 both:13 main:27"),
        ("next", 6, "twice:10 both:13 main:27"),
        ("stepBack", 6, "twice:9 both:13 main:27"),
        ("stepOut", 6, "both:13 main:27"),
        ("next", 6, "both:14 main:27"),
    ] {
        c.ask(command, json!({ "threadId": thread }));
        c.wait("stopped");
        assert_eq!(top(&mut c, thread).1, place, "{command}");
    }
    let (frame, _) = top(&mut c, 6);
    let scopes = c.ask("scopes", json!({ "frameId": frame }));
    let locals = scopes["scopes"].as_array().unwrap().iter().find(|s| s["name"] == "Locals").unwrap().clone();
    let shown = c.ask("variables", json!({ "variablesReference": locals["variablesReference"] }));
    let value = |name: &str| {
        let all = shown["variables"].as_array().unwrap();
        all.iter().find(|v| v["name"] == name).map(|v| v["value"].as_str().unwrap().to_string())
    };
    assert_eq!((value("a").as_deref(), value("b").as_deref()), (Some("6"), Some("12")), "{shown}");
    // The same of another lane: a = 3 + 1, b = 2 · 4.
    let (other, _) = top(&mut c, 4);
    assert_eq!(c.ask("evaluate", json!({ "expression": "b", "frameId": other }))["result"], "8");
    c.send("evaluate", json!({ "expression": "nothing", "frameId": other }));
    assert_eq!(c.response()["success"], false);
    let i = c.ask("evaluate", json!({ "expression": "i", "frameId": frame.as_u64().unwrap() + 16 }));
    assert_eq!(i["result"], "5", "the caller's");
    c.ask("reverseContinue", json!({ "threadId": 6 }));
    assert_eq!(c.wait("stopped")["reason"], "breakpoint");
    assert_eq!(top(&mut c, 6).1, "main:27");
    // In the disassembly, instruction by instruction.
    let list = c.ask("source", json!({ "sourceReference": 1 }))["content"].as_str().unwrap().to_string();
    let line = list.lines().position(|l| l.contains("OpIMul")).unwrap() + 1;
    let set = json!({ "source": { "sourceReference": 1 }, "breakpoints": [{ "line": line }] });
    c.ask("setBreakpoints", set);
    c.ask("continue", json!({ "threadId": 6 }));
    c.wait("stopped");
    assert!(top(&mut c, 6).1.starts_with(&format!("twice:{line} ")));
    c.ask("continue", json!({ "threadId": 6 }));
    c.wait("stopped");
    c.ask("continue", json!({ "threadId": 6 }));
    c.wait("terminated");
    c.ended();
}

#[test]
fn what_cannot_be_debugged_is_a_line() {
    let place = temporary::folder("tuff-debug-").unwrap();
    let fails = |options: &[&str], arguments: &[PathBuf]| {
        let done = debug(options, arguments, "", &[]);
        assert!(!done.status.success(), "{options:?}");
        text(&done.stderr).lines().last().unwrap_or_default().to_string()
    };
    assert_eq!(fails(&["--thread", "5"], &[]), "tuff: there is no program: tuff debug … -- PROGRAM");
    assert_eq!(fails(&["--pixel", "5"], &arguments("ints")), "tuff: a pixel has 2 numbers");
    let never = "tuff: no shader has run for that invocation";
    assert_eq!(fails(&["--thread", "500"], &arguments("ints")), never);
    assert_eq!(fails(&["--pixel", "1,1"], &arguments("ints")), never);
    assert_eq!(fails(&["--thread", "1", "--frame", "7"], &arguments("ints")), format!("{never} in frame 7"));
    // A stage that is not debugged is named; the others are.
    let all = ["whole.vert", "derivatives.frag", "through.geom"].map(|n| folder().join(format!("{n}.spv")));
    let done = debug(&["--pixel", "5,3", "--list"], &all, "", &[]);
    let said = text(&done.stderr);
    assert!(done.status.success() && text(&done.stdout).contains("fragment"), "{said}");
    let refusal = said.lines().filter(|l| l.starts_with("tuff: geometry shader 'main' ")).collect::<Vec<_>>();
    assert!(matches!(refusal[..], [l] if l.ends_with(": shaders of this stage are not debugged")), "{said}");
    // Recordings that are damaged: cut anywhere, or with any byte changed.
    let file = place.path().join("recording");
    let keep = ["--list", "-o", file.to_str().unwrap()];
    debug(&[&["--thread", "5"], &keep[..]].concat(), &arguments("calls"), "", &[]);
    let good = std::fs::read(&file).unwrap();
    let bad = place.path().join("bad");
    for k in 0..60usize {
        let mut bytes = good.clone();
        let at = k.wrapping_mul(2_654_435_761) % good.len();
        if k % 2 == 0 {
            bytes.truncate(at)
        } else {
            bytes[at] ^= 1 << (k % 8) | 0x80
        }
        std::fs::write(&bad, &bytes).unwrap();
        let done = debug(&["--trace", bad.to_str().unwrap(), "--print"], &[], "", &[]);
        let code = done.status.code();
        assert!(matches!(code, Some(0 | 1)), "byte {at}: {code:?} {}", text(&done.stderr));
        assert!(k % 2 == 1 || code == Some(1), "cut at {at}");
        assert!(!text(&done.stderr).contains("panicked"), "byte {at}: {}", text(&done.stderr));
    }
}

/// OpLine and names; optimised, with inlined functions and values for variables; names alone.
#[test]
fn other_debug_information() {
    let thread = ["--thread", "5"];
    let file = |name: &str| vec![folder().join(format!("{name}.spv"))];
    let said = |name: &str, commands: &str| text(&debug(&thread, &file(name), commands, &[]).stdout);
    let names = said("calls.g", "b 9\nc\nbt\no\np i\np x\nend\np x\np y\np z\np q\n");
    for line in [
        "#0 twice at calls.comp:9",
        "#1 main at calls.comp:26",
        "i = 5 (u32)",
        "x = 5 (i32)",
        "x = 6 (i32)",
        "y = 12 (i32)",
        "z = 18 (i32)",
        "q = 1 (i32)",
    ] {
        assert!(names.lines().any(|l| l == line), "{line}\n{names}");
    }
    // The optimiser knows that both calls of `twice` have the same result.
    let optimised = said("calls.os", "b 10\nc\nbt\np x\nend\np x\np y\np z\n");
    for line in [
        "#0 twice at calls.comp:10",
        "#1 main at calls.comp:26",
        "x = 6 (i32)",
        "y = 12 (i32)",
        "z = 18 (i32)",
    ] {
        assert!(optimised.lines().any(|l| l == line), "{line}\n{optimised}");
    }
    let none = said("calls.none", "bt\n");
    assert!(none.starts_with("step 0 SPIR-V:") && none.contains("#0 %4 at SPIR-V:"), "{none}");
    let all = text(&debug(&["--thread", "5", "--print"], &file("calls.none"), "", &[]).stdout);
    assert!(all.lines().any(|l| l.contains("OpIAdd") && l.ends_with(" = 18")), "{all}");
}

/// A loop of a thousand million turns: what has room is there, and the rest is told of.
#[test]
fn a_loop_without_end() {
    let settings = [("TUFF_WATCHDOG_MS", "700")];
    let done =
        debug(&["--thread", "5", "--limit", "1"], &arguments("endless"), "n 40\np k\nend\n", &settings);
    let (said, errors) = (text(&done.stdout), text(&done.stderr));
    assert!(errors.contains("steps were not recorded: they take more than the limit of 1 MiB"), "{errors}");
    assert!(said.lines().any(|l| l.starts_with("k = ")), "{said}");
    assert!(done.status.success(), "{errors}");
}

/// A hundred thousand instructions.
#[test]
fn a_large_shader() {
    if Command::new("glslangValidator").arg("--version").output().is_err() {
        return not_run::say("a_large_shader", "glslangValidator");
    }
    let place = temporary::folder("tuff-debug-").unwrap();
    let (source, spirv) = (place.path().join("large.comp"), place.path().join("large.spv"));
    let body: String = (0..25_000u32).map(|k| format!("x = x * 1664525u + {k}u;\n")).collect();
    let x = (0..25_000u32).fold(5u32, |x, k| x.wrapping_mul(1_664_525).wrapping_add(k));
    let head = "#version 450\nlayout(local_size_x = 16) in;\nlayout(binding = 0) buffer Out { uint w[256]; } o;\nvoid main() {\n";
    let whole =
        format!("{head}uint x = gl_GlobalInvocationID.x;\n{body}o.w[gl_LocalInvocationIndex] = x;\n}}\n");
    std::fs::write(&source, whole).unwrap();
    let made =
        Command::new("glslangValidator").args(["-V", "-g", "-o"]).arg(&spirv).arg(&source).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stdout));
    let done = debug(&["--thread", "5"], std::slice::from_ref(&spirv), "end\np x\nrn 3\np x\n", &[]);
    let said = text(&done.stdout);
    assert!(said.lines().any(|l| l == format!("x = {x} (u32)")), "{said}{}", text(&done.stderr));
}

/// A port serves like standard input does; a message that is none ends the connection, and the next client is served.
#[test]
fn a_port() {
    use std::io::{BufRead, BufReader, Read};
    let mut server = Command::new(env!("CARGO_BIN_EXE_tuff"))
        .args(["debug", "--dap", "--port", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(server.stderr.take().unwrap());
    said.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("tuff: listening on ").unwrap().to_string();
    for message in ["Content-Length: 99999999999\r\n\r\n", "Content-Length: 3\r\n\r\n{]}", "x\r\n\r\n"] {
        let mut bad = std::net::TcpStream::connect(&address).unwrap();
        bad.write_all(message.as_bytes()).unwrap();
        let mut rest = vec![];
        let _ = bad.read_to_end(&mut rest);
        assert_eq!(rest, b"", "{message:?}");
    }
    let mut good = std::net::TcpStream::connect(&address).unwrap();
    let body = r#"{"seq":1,"type":"request","command":"initialize","arguments":{}}"#;
    write!(good, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    BufReader::new(good).read_line(&mut answer).unwrap();
    assert!(answer.starts_with("Content-Length: "), "{answer}");
    server.kill().unwrap();
    server.wait().unwrap();
}
