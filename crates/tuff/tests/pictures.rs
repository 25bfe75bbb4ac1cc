//! `tuff frames` and `tuff compare`: what a program presents, and how it differs from golden pictures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Folder(temporary::Folder);

impl Folder {
    fn new() -> Folder {
        Folder(temporary::folder("tuff-pictures-").unwrap())
    }
    fn run(&self, line: &str) -> (i32, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples").join("present");
        assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
        let word = |w: &str| if w == "present" { program.display().to_string() } else { w.to_string() };
        command.current_dir(self.0.path()).args(line.split(' ').map(word));
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = [stdout, stderr].concat();
        (status.code().unwrap(), String::from_utf8(text).unwrap())
    }
    /// Names and pixels of a folder's pictures.
    fn pictures(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let mut all: Vec<PathBuf> =
            std::fs::read_dir(self.0.path().join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        let name = |p: &PathBuf| p.file_name().unwrap().to_str().unwrap().to_string();
        all.iter().map(|p| (name(p), pixels(p))).collect()
    }
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

fn pixels(path: &Path) -> Vec<u8> {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    bytes
}

/// 8 × 4 pixels of a colour.
fn plain(rgb: [u8; 3]) -> Vec<u8> {
    [rgb[0], rgb[1], rgb[2], 255].repeat(32)
}

#[test]
fn frames_become_files() {
    let folder = Folder::new();
    let (code, text) = folder.run("frames all -- present 000000 102030 ff0000 00ff80");
    assert_eq!((code, text.lines().last()), (0, Some("tuff: 4 frames in all")), "{text}");
    let expected = [[0, 0, 0], [0x10, 0x20, 0x30], [0xff, 0, 0], [0, 0xff, 0x80]];
    let expected: Vec<_> = (1..).zip(expected).map(|(n, rgb)| (format!("{n:06}.png"), plain(rgb))).collect();
    assert_eq!(folder.pictures("all"), expected);
    let (code, text) = folder.run("frames some -n 2,4-9 -- present 000000 102030 ff0000 00ff80");
    assert_eq!((code, text.lines().last()), (0, Some("tuff: 2 frames in some")), "{text}");
    assert_eq!(folder.pictures("some"), [expected[1].clone(), expected[3].clone()]);
    let (code, text) = folder.run("frames none -n 5 -- present 000000");
    assert!(code == 1 && text.contains("has presented no such frame"), "{text}");
    let (code, text) = folder.run("frames none -n 0 -- present 000000");
    assert!(code == 2 && text.contains("numbers from 1"), "{text}");
}

#[test]
fn golden_pictures_hold_or_fail() {
    let folder = Folder::new();
    assert_eq!(folder.run("frames golden -- present 000000 102030").0, 0);
    assert_eq!(folder.run("frames new -- present 000000 102030").0, 0);
    let same = folder.run("compare golden new");
    assert_eq!(same, (0, "2 pictures: 2 the same, 0 differ as allowed, 0 failed\n".into()));
    // Green is 3 more in the second frame, and there is a third.
    assert_eq!(folder.run("frames new -- present 000000 102330 ff0000").0, 0);
    let (code, text) = folder.run("compare golden new --junit a.xml --report a.html --difference out");
    let lines = "000002: 32 of 32 pixels (100.000 %) differ, by at most 3 of 255\n\
                 000003: has no golden picture (--update adds it)\n\
                 3 pictures: 1 the same, 0 differ as allowed, 2 failed\n";
    assert_eq!((code, text.as_str()), (1, lines));
    let junit = folder.read("a.xml");
    assert!(junit.contains("tests=\"3\"") && junit.contains("failures=\"2\""), "{junit}");
    let page = folder.read("a.html");
    assert!(page.contains("<h1>2 of 3 pictures failed</h1>"), "{page}");
    // Golden, new and difference of one; of the other the new one.
    assert_eq!(page.matches("data:image/png;base64,").count(), 4);
    assert_eq!(folder.pictures("out"), [("000002.png".into(), plain([214, 0, 28]))]);
    let tolerant = folder.run("compare golden/000002.png new/000002.png --tolerance 3");
    assert_eq!(tolerant.0, 0);
    assert_eq!(folder.run("compare golden/000002.png new/000002.png --tolerance 2").0, 1);
    assert_eq!(folder.run("compare golden/000002.png new/000002.png --tolerance 2 --max-pixels 100").0, 0);
    assert_eq!(folder.run("compare golden new --update").0, 0);
    assert_eq!(folder.run("compare golden new").0, 0);
    std::fs::remove_file(folder.0.path().join("new/000001.png")).unwrap();
    let (code, text) = folder.run("compare golden new");
    assert!(code == 1 && text.starts_with("000001: missing"), "{text}");
    assert_eq!(folder.run("compare golden nowhere").0, 2);
}

/// Passes of captures are compared by their labels and names.
#[test]
fn captures_are_compared() {
    let folder = Folder::new();
    let write = |name: &str, label: &str, red: u8| {
        let at = folder.0.path().join(name);
        std::fs::create_dir_all(at.join("passes")).unwrap();
        let capture = serde_json::json!({
            "workloads": [{ "label": "", "name": "main 1x1x1" }, { "label": label, "name": "1x1" }],
            "passes": [{ "workload": 1, "picture": "passes/1.ppm" }],
        });
        std::fs::write(at.join("capture.json"), capture.to_string()).unwrap();
        std::fs::write(at.join("passes/1.ppm"), [b"P6\n1 1\n255\n".as_slice(), &[red, 0, 0]].concat())
            .unwrap();
    };
    write("a", "city/sky", 7);
    write("b", "city/sky", 8);
    let (code, text) = folder.run("compare a b");
    assert_eq!(
        (code, text.lines().next()),
        (1, Some("city/sky: 1x1: 1 of 1 pixels (100.000 %) differ, by at most 1 of 255"))
    );
    write("b", "city/ground", 7);
    assert_eq!(folder.run("compare a b").1.lines().count(), 3);
}
