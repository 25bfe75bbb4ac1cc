//! `tuff … | head`: a reader who has left ends nobody's work. Exit codes and files are what they are with a reader.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A folder of this test's, gone when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Commands that are not run here: nothing of theirs but a program's own output, or too long. All print by the same macros.
const LEFT_OUT: [&str; 4] = ["demo", "gl", "overhead", "help"];

#[test]
fn a_closed_pipe_ends_in_quiet() {
    let folder = Folder(client::scratch("closed").unwrap());
    std::fs::create_dir_all(&folder.0).unwrap();
    let file = |name: &str| folder.0.join(name).display().to_string();
    let counters = |name: &str, fma: u64| {
        let text = format!(
            r#"{{"version":1,"gpu":"x","model":{{"clock_mhz":1000}},"total":{{"TuffFmaInstr":{fma}}},"workloads":[],"frames":[]}}"#
        );
        std::fs::write(file(name), text).unwrap();
    };
    counters("a.json", 1);
    counters("b.json", 2);
    std::fs::write(file("frame.ppm"), b"P6\n1 1\n255\nabc").unwrap();
    std::fs::write(file("counts.json"), "[1, 2, 3, 4]").unwrap();
    let tuff = env!("CARGO_BIN_EXE_tuff");
    let line = format!(r#"echo '{{"Check":{{"picture":"tri"}}}}' | '{tuff}' child > /dev/null"#);
    let mut run = Command::new(tuff);
    run.args(["run", "--check", "--capture", &file("capture"), "--", "sh", "-c", &line]);
    let ran = run.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    std::fs::create_dir_all(folder.0.join("recorded/frame")).unwrap();
    std::fs::write(folder.0.join("recorded/frame/data.bin"), []).unwrap();
    let pass = r#"{"kind":"render pass","device":0,"queue":0,"frame":null,"submission":0,"order":0,"label":"","name":"4x4",
        "area":[0,0,4,4],"layers":1,"attachments":[],"planes":[],"subpasses":[],"states":[],"commands":[],"tiles":[]}"#;
    std::fs::write(folder.0.join("recorded/frame/commands.jsonl"), pass.replace('\n', "")).unwrap();
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/city.frag.spv").to_string();
    let words = |line: &str| {
        let word = |w: &str| match w.strip_prefix('@') {
            Some("module") => module.clone(),
            Some(name) => file(name),
            None => w.to_string(),
        };
        line.split(' ').map(word).collect::<Vec<String>>()
    };
    // What must be there afterwards, where something is written.
    let all = [
        ("--help", None),
        ("info", None),
        ("info --extensions", None),
        ("info --limits", None),
        ("run --counters @left.json -- true", None),
        ("sanitize -- true", None),
        ("coverage -o @shaders.info -- true", Some("shaders.info")),
        ("debug --list -- true", None),
        ("frames @frames -- true", None),
        ("compare @frame.ppm @frame.ppm --report @pictures.html", Some("pictures.html")),
        ("report @a.json -o @page.html", Some("page.html")),
        ("diff @a.json @b.json", None),
        ("diff @a.json @b.json --max-increase fma=1% --markdown @diff.md", Some("diff.md")),
        ("diff @a.json @b.json --json @diff.json", Some("diff.json")),
        ("history @a.json @b.json -o @history.html", Some("history.html")),
        ("instrument @module -o @marked.spv --table @table.json", Some("table.json")),
        ("annotate @module @counts.json", None),
        ("shader @module", None),
        ("shader @module --format json", None),
        ("pages @pages", Some("pages")),
        ("advise @capture", None),
        ("advise @capture --all --json", None),
        ("advise --rules", None),
        ("advise @capture --markdown @advice.md", Some("advice.md")),
        ("whatif @capture --cores 4", None),
        ("top --once -- true", None),
        ("frame @recorded -o @stepped.html", Some("stepped.html")),
        ("frame @recorded --pixel 1,1", None),
        ("child", None),
    ];
    let help = Command::new(env!("CARGO_BIN_EXE_tuff")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| l.starts_with("  "));
    for name in commands.filter_map(|l| l[2..].split_whitespace().next().filter(|_| !l.starts_with("   "))) {
        let tried = all.iter().any(|(line, _)| line.split(' ').next() == Some(name));
        assert!(tried || LEFT_OUT.contains(&name), "{name} is not tried");
    }
    for (line, left) in all {
        let ended = |closed: [bool; 2]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
            command.args(words(line)).stdin(Stdio::null());
            let pipe = |closed: bool| match closed {
                true => Stdio::from(std::io::pipe().unwrap().1),
                false => Stdio::piped(),
            };
            command.stdout(pipe(closed[0])).stderr(pipe(closed[1]));
            let done = command.spawn().unwrap().wait_with_output().unwrap();
            (done.status, String::from_utf8_lossy(&done.stderr).into_owned())
        };
        let (status, said) = ended([false, false]);
        for closed in [[true, false], [true, true]] {
            if let Some(left) = left {
                let path = folder.0.join(left);
                let _ = std::fs::remove_file(&path);
                let _ = std::fs::remove_dir_all(&path);
            }
            let (code, why) = ended(closed);
            assert_eq!(code, status, "{line}, closed {closed:?}: {why}");
            assert!(closed[1] || why == said, "{line}: {why:?}, not {said:?}");
            assert!(left.is_none_or(|l| folder.0.join(l).exists()), "{line} left nothing");
        }
    }
}
