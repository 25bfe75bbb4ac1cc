//! `tuff run --frame` and `tuff frame`: a scene of which every figure is worked out by hand (examples/frame.rs).

use flate2::read::ZlibDecoder;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SIZE: [usize; 2] = [72, 40];
/// The first render pass among the commands: after a copy and a dispatch.
const PASS: usize = 2;
const PIXELS: usize = SIZE[0] * SIZE[1];

fn example(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples").join(name);
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    program
}

struct Folder(temporary::Folder);

impl Folder {
    fn new() -> Folder {
        Folder(temporary::folder("tuff-frame-").unwrap())
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn run(&self, line: &str, more: &[(&str, &str)]) -> (i32, String) {
        let program = example("frame");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
        let word = |w: &str| if w == "PROGRAM" { program.display().to_string() } else { w.to_string() };
        command.current_dir(self.0.path()).args(line.split(' ').map(word)).envs(more.iter().copied());
        let Output { status, stdout, stderr } = command.output().unwrap();
        (status.code().unwrap(), String::from_utf8([stdout, stderr].concat()).unwrap())
    }
    /// Captures the scene; the page, taken apart.
    fn page(&self, more: &[(&str, &str)]) -> Page {
        let (code, text) = self.run("run --frame 0-100 --capture scene -- PROGRAM out.bin", more);
        assert_eq!(code, 0, "{text}");
        let (code, text) = self.run("frame scene -o scene.html", &[]);
        assert_eq!(code, 0, "{text}");
        Page::read(std::fs::read_to_string(self.path("scene.html")).unwrap())
    }
    fn history(&self, at: &str) -> Vec<Value> {
        let (code, text) = self.run(&format!("frame scene --pixel {at} --json"), &[]);
        assert_eq!(code, 0, "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

struct Page {
    text: String,
    data: Value,
}

impl Page {
    fn read(text: String) -> Page {
        let mut page = Page { text, data: Value::Null };
        page.data = serde_json::from_slice(&page.chunk("main")).unwrap();
        page
    }
    fn chunk(&self, id: &str) -> Vec<u8> {
        let mark = format!("id=\"{id}\">");
        let from = self.text.find(&mark).unwrap_or_else(|| panic!("no chunk {id}")) + mark.len();
        let to = from + self.text[from..].find('<').unwrap();
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let value = |c: u8| digits.iter().position(|d| *d == c).unwrap() as u32;
        let mut packed = vec![];
        for four in self.text.as_bytes()[from..to].chunks(4) {
            let digits = four.iter().filter(|c| **c != b'=').count();
            let word = four.iter().take(digits).fold(0, |w, c| w << 6 | value(*c)) << (6 * (4 - digits));
            packed.extend(&word.to_be_bytes()[1..digits]);
        }
        let mut out = vec![];
        ZlibDecoder::new(&packed[..]).read_to_end(&mut out).unwrap();
        out
    }
    /// The first difference of the data of two pages, with what is around it.
    fn difference(&self, other: &Page) -> String {
        let [a, b] = [self, other].map(|p| p.data.to_string());
        let Some(at) = a.bytes().zip(b.bytes()).position(|(a, b)| a != b) else {
            return "not in the data".to_string();
        };
        let around = |t: &str| {
            String::from_utf8_lossy(&t.as_bytes()[at.saturating_sub(60)..t.len().min(at + 60)]).into_owned()
        };
        format!("{} | {}", around(&a), around(&b))
    }
    fn passes(&self) -> &Vec<Value> {
        self.data["passes"].as_array().unwrap()
    }
    fn text(&self, place: &Value) -> String {
        let n = |k: usize| place[k].as_u64().unwrap() as usize;
        let all = self.chunk(&format!("t{}", n(0)));
        String::from_utf8(all[n(1)..n(1) + n(2)].to_vec()).unwrap()
    }
    /// A plane's sample after a step.
    fn plane(&self, pass: usize, plane: usize, sample: u8, step: u32) -> Vec<u8> {
        let p = &self.passes()[pass];
        let bytes: Vec<usize> =
            p["planes"].as_array().unwrap().iter().map(|p| p["bytes"].as_u64().unwrap() as usize).collect();
        let mut out = vec![0; PIXELS * bytes[plane]];
        let [first, last] = [0, 1].map(|k| p["changes"][k].as_u64().unwrap());
        for c in (first..last).map(|n| self.chunk(&format!("c{n}"))) {
            let mut at = 0;
            while at < c.len() {
                let own = u32::from_le_bytes(c[at..at + 4].try_into().unwrap());
                let tile = u32::from_le_bytes(c[at + 4..at + 8].try_into().unwrap()) as usize;
                let (of, s) = (c[at + 8] as usize, c[at + 9]);
                let [tx, ty] = [1, 2].map(|k| p["tiles"][tile][k].as_i64().unwrap() as usize);
                let bits = c[at + 10..at + 42].to_vec();
                at += 42;
                for b in (0..256).filter(|b| bits[b / 8] >> (b % 8) & 1 != 0) {
                    for i in (0..16).filter(|_| own <= step && of == plane && s == sample) {
                        let (x, y) = (tx + b % 16 * 4 + i % 4, ty + b / 16 * 4 + i / 4);
                        if x < SIZE[0] && y < SIZE[1] {
                            let n = bytes[plane];
                            let to = &mut out[(y * SIZE[0] + x) * n..][..n];
                            to.iter_mut().zip(&c[at + i * n..]).for_each(|(a, b)| *a ^= b);
                        }
                    }
                    at += 16 * bytes[of];
                }
            }
        }
        out
    }
}

fn pixel(picture: &[u8], [x, y]: [usize; 2]) -> [u8; 4] {
    picture[(y * SIZE[0] + x) * 4..][..4].try_into().unwrap()
}

/// The page's planes after the last step are what the program has read back, and what the capture's picture shows.
#[test]
fn attachments_are_those_of_the_program_and_the_history_ends_with_them() {
    let folder = Folder::new();
    let page = folder.page(&[]);
    let out = std::fs::read(folder.path("out.bin")).unwrap();
    let (colour, rest) = out.split_at(4 * PIXELS);
    let (depth, rest) = rest.split_at(4 * PIXELS);
    let (stencil, resolved) = rest.split_at(PIXELS);
    let planes = |pass: usize| page.passes()[pass]["planes"].as_array().unwrap().clone();
    let aspects: Vec<String> = planes(0).iter().map(|p| p["aspect"].as_str().unwrap().to_string()).collect();
    let find = |aspect: &str| aspects.iter().position(|a| a == aspect).unwrap();
    let end = page.passes()[0]["commands"].as_array().unwrap().len() as u32 + 1;
    assert_eq!(end, 9, "seven draws and a clear");
    assert!(page.plane(0, find("colour"), 0, end) == colour, "colour");
    assert!(page.plane(0, find("depth"), 0, end) == depth, "depth");
    assert!(page.plane(0, find("stencil"), 0, end) == stencil, "stencil");
    // Of the second pass the plane that is resolved to.
    let of = |p: &Value| p["samples"] == 1 && p["aspect"] == "colour";
    let resolve = planes(1).iter().position(of).unwrap();
    assert!(page.plane(1, resolve, 0, 2) == resolved, "resolved");
    // The capture's pictures are of the same attachments.
    for (workload, picture) in [("picture", colour), ("resolved", resolved)] {
        let files = std::fs::read_dir(folder.path("scene/passes")).unwrap();
        let rgb: Vec<u8> = picture.as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        let same = files.flatten().any(|f| std::fs::read(f.path()).unwrap().ends_with(&rgb));
        assert!(same, "the picture of {workload}");
    }
    // After a: its rectangle, and nothing else; after c: half of white over it.
    let after = |step| page.plane(0, find("colour"), 0, step);
    assert_eq!([pixel(&after(1), [8, 4]), pixel(&after(1), [7, 4])], [[51, 153, 153, 255], [0, 0, 0, 255]]);
    assert_eq!(
        [pixel(&after(2), [8, 4]), pixel(&after(3), [8, 4])],
        [[51, 153, 153, 255], [153, 204, 204, 191]]
    );
    assert_eq!(pixel(&after(0), [70, 30]), [0, 0, 0, 255]);
    for at in ["8,4", "24,7", "16,7", "41,20", "40,20", "3,30", "63,3", "64,3", "65,33", "71,39"] {
        let (x, y) = at.split_once(',').unwrap();
        let [x, y] = [x, y].map(|n| n.parse::<usize>().unwrap());
        let events = folder.history(at);
        let last = events.iter().rfind(|e| e["command"] == PASS && e["colors"][0].is_object());
        let after: Vec<u8> = serde_json::from_value(last.unwrap()["colors"][0]["after"].clone()).unwrap();
        assert_eq!(after, pixel(colour, [x, y]), "{at}: {events:#?}");
    }
}

/// What becomes of each draw's fragments, worked out by hand.
#[test]
fn fragments_are_counted_and_told_one_by_one() {
    let folder = Folder::new();
    let page = folder.page(&[]);
    let commands = page.passes()[0]["commands"].as_array().unwrap();
    // Covered, shaded, discarded, failed stencil, failed depth, passed, quads, helpers.
    let keys =
        ["covered", "shaded", "discarded", "failed_stencil", "failed_depth", "passed", "quads", "helpers"];
    let expected: [(&str, [u64; 8]); 7] = [
        ("a", [128, 128, 0, 0, 0, 128, 32, 0]),
        // Columns 15 to 23 of four rows lie behind; of column 24 two quads, half of each.
        ("b", [40, 4, 0, 0, 36, 4, 2, 4]),
        ("c", [8, 8, 0, 0, 0, 8, 2, 0]),
        ("d", [32, 32, 16, 0, 0, 16, 8, 0]),
        ("e", [16, 0, 0, 16, 0, 0, 0, 0]),
        ("f", [16, 16, 0, 0, 0, 16, 4, 0]),
        ("g", [128, 128, 0, 0, 0, 128, 32, 0]),
    ];
    for (c, (label, sums)) in commands.iter().zip(&expected) {
        assert_eq!(c["label"], *label);
        assert_eq!(keys.map(|k| c["sums"][k].as_u64().unwrap()), *sums, "{label}");
    }
    assert_eq!(commands[7]["kind"], "clear");
    // Of four samples: everything right of x = 10.5, of which column 10 has two.
    let h = &page.passes()[1]["commands"][0]["sums"];
    let whole = (72 - 11) * 40;
    let (covered, samples) = (whole + 40, 4 * whole + 2 * 40);
    assert_eq!(
        ["covered", "shaded", "samples", "passed"].map(|k| h[k].as_u64().unwrap()),
        [covered, covered, samples, samples]
    );
    // The counters of the same draws.
    let capture: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("scene/capture.json")).unwrap()).unwrap();
    let pass = capture["passes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["draws"].as_array().is_some_and(|d| d.len() == 7));
    for (d, (label, sums)) in pass.unwrap()["draws"].as_array().unwrap().iter().zip(&expected) {
        let counted = d["counters"]["TuffFragmentInvocations"].as_u64().unwrap_or(0);
        assert_eq!((d["label"].as_str().unwrap(), counted), (*label, sums[1]));
    }
    // A pixel under a, b and c: b's fragment fails its depth test.
    let told = |at: &str| -> Vec<(String, String)> {
        let events = folder.history(at);
        let own = events.iter().filter(|e| e["command"] == PASS && e["primitive"].is_number());
        let text = |v: &Value| v.as_str().unwrap().to_string();
        let label = |e: &Value| text(&commands[e["step"].as_u64().unwrap() as usize - 1]["label"]);
        own.map(|e| (label(e), text(&e["result"]))).collect()
    };
    let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    };
    assert_eq!(told("8,4"), pairs(&[("a", "passed"), ("c", "passed")]));
    assert_eq!(told("16,7"), pairs(&[("a", "passed"), ("b", "depth test failed")]));
    assert_eq!(told("41,20"), pairs(&[("d", "discarded")]));
    assert_eq!(told("3,30"), pairs(&[("e", "stencil test failed"), ("f", "passed")]));
    assert_eq!(told("63,3"), pairs(&[("g", "passed"), ("g", "passed")]));
    // Two fragments of one draw: 0.8 by half over black, and again; 0.4 and 0.6 of 255.
    let events = folder.history("63,3");
    let of_g: Vec<&Value> = events.iter().filter(|e| e["step"] == 7 && e["primitive"].is_number()).collect();
    let first =
        |k: &str| -> Vec<u8> { of_g.iter().map(|e| e["colors"][0][k][0].as_u64().unwrap() as u8).collect() };
    assert_eq!((first("before"), first("after")), (vec![0, 102], vec![102, 153]));
    let output: Vec<f32> =
        (0..4).map(|k| f32::from_bits(of_g[0]["colors"][0]["output"][k].as_u64().unwrap() as u32)).collect();
    assert_eq!(output, [0.8, 0.8, 0.8, 0.5]);
    assert_eq!(of_g[0]["depth"], 0.5);
}

/// State, what is bound, meshes and sources.
#[test]
fn a_draw_shows_everything_that_it_is_drawn_with() {
    let folder = Folder::new();
    let page = folder.page(&[]);
    assert!(
        page.data["command"].as_str().unwrap().ends_with("examples/frame out.bin"),
        "{}",
        page.data["command"]
    );
    let pass = &page.passes()[0];
    let draw = &pass["commands"][2]["draw"];
    let state = &pass["states"][draw["state"].as_u64().unwrap() as usize];
    assert_eq!((&state["topology"], &state["depth"]["compare"]), (&"TRIANGLE_LIST".into(), &"LESS".into()));
    assert_eq!((&state["depth"]["test"], &state["depth"]["write"]), (&true.into(), &false.into()));
    assert_eq!(state["scissors"][0], serde_json::json!([8, 4, 4, 2]));
    assert_eq!(
        state["blend"]["attachments"][0]["colour"],
        serde_json::json!(["SRC_ALPHA", "ADD", "ONE_MINUS_SRC_ALPHA"])
    );
    let bound = draw["bindings"]["bound"].as_array().unwrap();
    assert_eq!(bound.iter().map(|b| b["what"].as_str().unwrap()).collect::<Vec<_>>(), ["buffer", "image"]);
    assert_eq!(
        (&bound[1]["view"]["name"], &bound[1]["view"]["format"]),
        (&"grain".into(), &"R8G8B8A8_UNORM".into())
    );
    let n = |v: &Value, k: usize| v[k].as_u64().unwrap() as usize;
    let data = &bound[0]["data"];
    let bytes = page.chunk(&format!("b{}", n(data, 0)))[n(data, 1)..][..n(data, 2)].to_vec();
    let words: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    assert_eq!((words.len(), words[3], words[19]), (28, 1.5, 9.5));
    let push: Vec<u8> = serde_json::from_value(draw["bindings"]["push"].clone()).unwrap();
    assert_eq!(push[12..20], [0.5f32.to_le_bytes(), 0.25f32.to_le_bytes()].concat());
    // Three vertices in, as the buffer has them; three out, at the pushed depth.
    let mesh = |place: &Value| -> Vec<f32> {
        let all = page.chunk(&format!("m{}", n(place, 0)))[n(place, 1)..][..n(place, 2)].to_vec();
        all.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    };
    let vertices = mesh(&draw["mesh_in"]["attributes"][0]["data"]);
    assert_eq!(vertices, [-1.0, -1.0, 0.0, 1.0, 3.0, -1.0, 0.0, 1.0, -1.0, 3.0, 0.0, 1.0]);
    let out = &draw["mesh_out"][0];
    assert_eq!((&out["vertices"], &out["primitives"]), (&3.into(), &1.into()));
    assert_eq!(mesh(&out["positions"])[..8], [-1.0, -1.0, 0.25, 1.0, 3.0, -1.0, 0.25, 1.0]);
    // Slots 0 to 3 are the colour.
    assert_eq!(mesh(&out["varyings"][3][1]), [0.5; 3]);
    // The fragment shader as source.
    let shaders = draw["bindings"]["shaders"].as_array().unwrap();
    let fragment = shaders.iter().find(|s| s["stage"] == "fragment").unwrap();
    let shader = &page.data["shaders"][fragment["module"].as_u64().unwrap() as usize];
    let source = page.text(&shader["texts"][0]["text"]);
    let expected = include_str!("frame/plain.txt");
    if std::env::var_os("TUFF_BLESS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frame/plain.txt"), &source).unwrap();
    } else {
        assert_eq!(source, expected);
    }
    let fields: Vec<(&str, u64)> = (shader["resources"].as_array().unwrap().iter())
        .filter(|r| r["name"] == "scene")
        .flat_map(|r| r["fields"].as_array().unwrap())
        .map(|f| (f["path"].as_str().unwrap(), f["offset"].as_u64().unwrap()))
        .collect();
    assert_eq!(fields, [("tint", 0), ("turn", 16), ("steps[0]", 80), ("steps[1]", 96)]);
    // The dispatch, before it has run.
    let line = page.data["lines"].as_array().unwrap().iter().find(|l| l["kind"] == "dispatch").unwrap();
    assert_eq!(
        (&line["groups"], &line["local"]),
        (&serde_json::json!([2, 1, 1]), &serde_json::json!([4, 1, 1]))
    );
}

/// The page has the same bytes on every number of threads and SIMD level, and recording changes no pixel.
#[test]
fn a_page_does_not_depend_on_threads_or_levels() {
    let one = Folder::new();
    let page = one.page(&[("TUFF_THREADS", "1")]);
    let plain = Folder::new();
    let (code, text) = plain.run("run -- PROGRAM out.bin", &[]);
    assert_eq!(code, 0, "{text}");
    let out = |f: &Folder| std::fs::read(f.path("out.bin")).unwrap();
    assert!(out(&plain) == out(&one), "recording changes the picture");
    for more in [("TUFF_THREADS", "2"), ("TUFF_THREADS", "5"), ("TUFF_SIMD", "portable"), ("TUFF_JIT", "0")] {
        let folder = Folder::new();
        let other = folder.page(&[more]);
        let differs = (page.text.bytes().zip(other.text.bytes())).position(|(a, b)| a != b);
        assert!(other.text == page.text, "{more:?}: from byte {differs:?}: {}", page.difference(&other));
        assert!(out(&folder) == out(&one), "{more:?}");
    }
}

/// What is wrong is one line, whatever the files hold.
#[test]
fn bad_files_are_refused() {
    let folder = Folder::new();
    let (code, text) = folder.run("run --frame 0-100 --capture scene -- PROGRAM out.bin", &[]);
    assert_eq!(code, 0, "{text}");
    let lines = folder.path("scene/frame/commands.jsonl");
    let good = std::fs::read_to_string(&lines).unwrap();
    let refused = |text: &str, why: &str| {
        std::fs::write(&lines, text).unwrap();
        for line in ["frame scene -o x.html", "frame scene --pixel 8,4"] {
            let (code, said) = folder.run(line, &[]);
            assert!(code == 1 && said.lines().count() == 1 && said.contains(why), "{line}: {code} {said}");
        }
    };
    refused("{}", "line 1");
    refused("nothing", "line 1");
    refused(&good.replacen("\"area\":[0,0,72,40]", "\"area\":[0,0,99999999,40]", 1), "area");
    refused(
        &good.replacen("\"bytes\":4,\"samples\":1,\"scale\"", "\"bytes\":400,\"samples\":1,\"scale\"", 1),
        "bytes a pixel",
    );
    // Streams that end too soon.
    let data = folder.path("scene/frame/data.bin");
    std::fs::write(&lines, &good).unwrap();
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..bytes.len() / 2]).unwrap();
    let (code, said) = folder.run("frame scene -o x.html", &[]);
    assert!(code == 1 && said.lines().count() == 1, "{said}");
    // Every byte of a stream may be any.
    for k in 0..40 {
        let mut bent = bytes.clone();
        let at = (k * 7919) % bent.len();
        bent[at] ^= 1 << (k % 8);
        std::fs::write(&data, &bent).unwrap();
        let (code, said) = folder.run("frame scene -o x.html", &[]);
        assert!(code == 0 || (code == 1 && !said.contains("panicked")), "{said}");
    }
    let (code, said) = folder.run("run --frame 900 --capture other -- PROGRAM out.bin", &[]);
    assert!(code == 1 && said.contains("has had no frame 900"), "{code} {said}");
    let (code, said) = folder.run("run --frame x --capture other -- PROGRAM out.bin", &[]);
    assert!(code == 2 && said.contains("numbers from 0"), "{code} {said}");
    let (code, said) = folder.run("frame nothing", &[]);
    assert!(code == 1 && said.contains("no frame was recorded"), "{code} {said}");
}

/// More than 65 535 tiles, views, a pass in two parts with a secondary command buffer (examples/frame_parts.rs).
#[test]
fn layers_views_and_parts_are_told_apart() {
    let folder = Folder::new();
    let program = example("frame_parts");
    let (code, text) = folder.run(&format!("run --frame 0-100 --capture odd -- {}", program.display()), &[]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = folder.run("frame odd -o odd.html", &[]);
    assert_eq!(code, 0, "{text}");
    let page = Page::read(std::fs::read_to_string(folder.path("odd.html")).unwrap());
    let [layers, views, parts] = [0, 1, 2].map(|n| &page.passes()[n]);
    // 9 × 4 tiles of 2048 layers; only the last block of the last one has changed, in the clear.
    assert_eq!((layers["layers"].as_u64(), layers["tiles"].as_array().unwrap().len()), (Some(2048), 73728));
    let c = page.chunk(&format!("c{}", layers["changes"][0].as_u64().unwrap()));
    let mut expected = [1u32.to_le_bytes(), 73727u32.to_le_bytes()].concat();
    expected.extend([0, 0]);
    expected.extend([0; 31]);
    expected.push(0x80);
    expected.extend([255; 16]);
    assert_eq!(c, expected);
    let history = |at: &str, command: usize| -> Vec<(u64, String, u8)> {
        let (code, text) = folder.run(&format!("frame odd --pixel {at} --json"), &[]);
        assert_eq!(code, 0, "{text}");
        let events: Vec<Value> = serde_json::from_str(&text).unwrap();
        let own = events.into_iter().filter(|e| e["command"] == command && e["step"] != 0);
        own.map(|e| {
            let after = e["colors"][0]["after"][0].as_u64().unwrap() as u8;
            (e["layer"].as_u64().unwrap(), e["result"].as_str().unwrap().to_string(), after)
        })
        .collect()
    };
    let number = |label: &str| {
        page.data["lines"]
            .as_array()
            .unwrap()
            .iter()
            .position(|l| l["label"] == label && !l["pass"].is_null())
            .unwrap()
    };
    let told = |layer: u64, result: &str, red: u8| (layer, result.to_string(), red);
    assert_eq!(history("575,255", number("layers")), [told(2047, "changed", 255)]);
    // Each view has its own fragments and geometry.
    let draw = &views["commands"][0];
    assert_eq!(["covered", "shaded", "passed"].map(|k| draw["sums"][k].as_u64().unwrap()), [256; 3]);
    let meshes = draw["draw"]["mesh_out"].as_array().unwrap();
    assert_eq!(meshes.iter().map(|m| m["view"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(history("8,4", number("views")), [told(0, "passed", 51), told(1, "passed", 51)]);
    // Two draws of one pass: 0.2 of 255; half of white over it.
    let labels: Vec<&str> =
        parts["commands"].as_array().unwrap().iter().map(|c| c["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["parts", "rest"]);
    assert_eq!(history("8,4", number("parts")), [told(0, "passed", 51), told(0, "passed", 153)]);
    assert_eq!(history("23,11", number("parts")), [told(0, "passed", 51)]);
    assert_eq!(page.data["left_out"], serde_json::json!([]));
}

/// A frame of 1000 draws, and what pages leave out that may not be so large.
#[test]
fn a_page_keeps_its_limit_and_says_what_it_lacks() {
    let folder = Folder::new();
    let (code, text) = folder.run("run --frame 0-100 --capture many -- PROGRAM out.bin 1000", &[]);
    assert_eq!(code, 0, "{text}");
    let size = |line: &str| {
        let (code, text) = folder.run(line, &[]);
        assert_eq!(code, 0, "{text}");
        let text = std::fs::read_to_string(folder.path("many.html")).unwrap();
        (text.len(), Page::read(text))
    };
    let (bytes, page) = size("frame many -o many.html");
    assert!(bytes < 5_000_000, "{bytes}");
    assert_eq!(page.passes()[0]["commands"].as_array().unwrap().len(), 1001);
    assert_eq!(page.data["left_out"], serde_json::json!([]));
    // Without fragments it fits, and has what passes end with.
    let (bytes, page) = size("frame many -o many.html --limit 1");
    assert!(bytes <= 1_000_000, "{bytes}");
    let left_out = page.data["left_out"].as_array().unwrap();
    assert!(left_out.iter().any(|l| l.as_str().unwrap().starts_with("fragments")), "{left_out:?}");
    // A record without room: what is not there is said, and nothing is made up.
    let (code, text) =
        folder.run("run --frame 0-100 --capture short -- PROGRAM out.bin 100", &[("TUFF_FRAME_MIB", "1")]);
    assert!(code == 0 && text.contains("of the record of frames was left out"), "{code} {text}");
    let (code, text) = folder.run("frame short -o short.html", &[]);
    assert_eq!(code, 0, "{text}");
    let page = Page::read(std::fs::read_to_string(folder.path("short.html")).unwrap());
    let left_out = page.data["left_out"].to_string();
    assert!(left_out.contains("tiles of") && left_out.contains("TUFF_FRAME_MIB was reached"), "{left_out}");
}

/// RenderDoc's history of pixels (docs/examples/renderdoc_history.py) has the same draws, primitives, results and values.
#[test]
fn renderdoc_tells_the_same_history() {
    let test = "renderdoc_tells_the_same_history";
    if !Path::new("/usr/lib/python3/dist-packages/renderdoc.so").exists() {
        return not_run::say(test, "Debian's python3-renderdoc");
    }
    let pixels = ["8,4", "24,7", "16,7", "41,20", "40,20", "3,30", "63,3", "65,33", "0,0"];
    let folder = Folder::new();
    let (code, text) = folder.run("run --frame 0-100 --capture scene -- PROGRAM out.bin", &[]);
    assert_eq!(code, 0, "{text}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/renderdoc_history.py");
    let mut renderdoc = Command::new(env!("CARGO_BIN_EXE_tuff"));
    renderdoc
        .args(["run", "--"])
        .args(["timeout", "300", "/usr/bin/python3"])
        .arg(script)
        .arg(pixels.join(";"));
    // Which frame does not matter: all are the same.
    renderdoc.arg("60").arg(example("frame")).arg(folder.path("again.bin")).arg("again");
    let done = renderdoc.env("HOME", folder.0.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    let all: Vec<Value> =
        text.lines().filter(|l| l.starts_with('{')).map(|l| serde_json::from_str(l).unwrap()).collect();
    // Fragments of draws that the scissor let through.
    let fragments = |e: &&Value| e["draw"].is_number() && e["result"] != "scissored";
    let numbers = |v: &Value| -> Vec<f32> {
        v.as_array().unwrap().iter().map(|n| n.as_f64().unwrap() as f32).collect()
    };
    let mut compared = 0;
    for at in pixels {
        let theirs: Vec<&Value> = all.iter().filter(|e| e["pixel"] == at).filter(fragments).collect();
        let events = folder.history(at);
        let ours: Vec<&Value> =
            events.iter().filter(|e| e["command"] == PASS && e["primitive"].is_number()).collect();
        assert_eq!(ours.len(), theirs.len(), "{at}: {ours:#?} {theirs:#?}");
        for (i, (own, their)) in ours.iter().zip(&theirs).enumerate() {
            let why = || format!("{at}: {own:#?} {their:#?}");
            assert_eq!(own["step"].as_u64().unwrap() - 1, their["draw"].as_u64().unwrap(), "{}", why());
            assert_eq!(own["primitive"], their["primitive"], "{}", why());
            let colour = &own["colors"][0];
            let bytes = |k: &str| -> Vec<f32> { numbers(&colour[k]).iter().map(|v| v / 255.0).collect() };
            // RenderDoc replays the fragments of a draw one by one, and writes depth as it does: what the second does it
            // only knows from the end.
            if i > 0 && theirs[i - 1]["draw"] == their["draw"] {
                assert_eq!(bytes("after"), numbers(&their["after"]["colour"]), "{}", why());
                continue;
            }
            assert_eq!(own["result"], their["result"], "{}", why());
            assert_eq!(bytes("before"), numbers(&their["before"]["colour"]), "{}", why());
            if own["result"] == "passed" && theirs.get(i + 1).is_none_or(|n| n["draw"] != their["draw"]) {
                assert_eq!(bytes("after"), numbers(&their["after"]["colour"]), "{}", why());
            }
            if colour["output"].is_array() && own["result"] != "discarded" {
                let words = colour["output"].as_array().unwrap().iter();
                let output: Vec<f32> = words.map(|w| f32::from_bits(w.as_u64().unwrap() as u32)).collect();
                assert_eq!(output, numbers(&their["shader"]["colour"]), "{}", why());
            }
            if let Some(depth) = own["depth"].as_f64().filter(|_| own["result"] != "discarded") {
                let tests = their["shader"]["depth"].as_f64().unwrap();
                // Draws without a depth test have none.
                assert!(tests == depth || tests == 0.0, "{}", why());
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 10);
}
