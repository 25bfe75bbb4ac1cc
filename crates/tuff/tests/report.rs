//! `tuff run --capture`, `tuff report`: what a program leaves, and the page of it in headless Chromium, where a script
//! (`report/clicks.js`) clicks through every view and reads figures that must be the capture's.

#[path = "report/graphs.rs"]
mod graphs;
#[path = "report/rays.rs"]
mod rays;
#[path = "report/views.rs"]
mod views;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn tuff() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tuff"))
}

/// A folder of a test's, gone when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let at = client::scratch(&format!("report-{name}")).unwrap();
        let _ = std::fs::remove_dir_all(&at);
        std::fs::create_dir_all(&at).unwrap();
        Folder(at)
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(mut command: Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

/// The city's first frame, and a product of matrices, captured; what was said of it.
fn capture(folder: &Path, threads: usize, product: &Path) -> (Value, String) {
    let mut command = tuff();
    command.args(["run", "--check", "--capture"]).arg(folder).args([
        "--",
        env!("CARGO_BIN_EXE_tuff"),
        "child",
    ]);
    command.env("TUFF_THREADS", threads.to_string());
    let output = json!({ "Output": { "kernel": "sgemm", "path": product } });
    let said = run(command, &format!("{{\"Own\":\"First\"}}\n{output}\n"));
    (read(folder), said)
}

fn read(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("capture.json")).unwrap()).unwrap()
}

fn report(arguments: &[&Path], output: &Path) {
    let mut command = tuff();
    command.arg("report").arg(arguments[0]).arg("-o").arg(output);
    arguments[1..].iter().for_each(|a| {
        command.arg("--against").arg(a);
    });
    run(command, "");
}

/// The page with the clicks in it, and errors kept from its beginning on.
fn clicking(page: &str) -> String {
    const KEPT: &str = "<script>window.pageErrors = []; window.addEventListener('error', (e) => pageErrors.push(e.message));</script>";
    let page = page.replacen("<head>", &format!("<head>{KEPT}"), 1);
    let (before, after) = page.rsplit_once("</body>").unwrap();
    format!("{before}<script>{}</script></body>{after}", include_str!("report/clicks.js"))
}

/// What the clicks read, in a window of the width that Chromium has, or in a frame of `width` pixels.
fn browse(folder: &Folder, page: &Path, width: Option<u32>) -> Value {
    let page = clicking(&std::fs::read_to_string(page).unwrap());
    let page = match width {
        None => page,
        Some(w) => format!(
            "<body><iframe id=f style='width:{w}px;height:800px'></iframe><script>f.srcdoc = {}</script></body>",
            json!(page).to_string().replace("</", "<\\/")
        ),
    };
    let file = folder.at("clicked.html");
    std::fs::write(&file, page).unwrap();
    let mut chromium = Command::new("timeout");
    chromium.args([
        "120",
        "chromium",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1280,900",
    ]);
    chromium.arg(format!("--user-data-dir={}", folder.at("profile").display()));
    let done = chromium.arg("--dump-dom").arg(format!("file://{}", file.display())).output().unwrap();
    let dom = String::from_utf8_lossy(&done.stdout);
    let start = dom
        .rfind("<pre id=\"read\">")
        .unwrap_or_else(|| panic!("no result: {}", String::from_utf8_lossy(&done.stderr)));
    let text = &dom[start + 15..];
    let text = &text[..text.find("</pre>").unwrap()];
    let text =
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["errors"], json!([]), "the page's script");
    read
}

/// Without the spaces in it.
fn tight(v: &Value) -> String {
    v.as_str().unwrap().split_whitespace().collect()
}

/// A whole number as the page writes it, its groups of three apart.
fn digits(v: &Value) -> String {
    v.as_str().unwrap().chars().filter(char::is_ascii_digit).collect()
}

fn list(v: &Value) -> &Vec<Value> {
    v.as_array().unwrap_or_else(|| panic!("no list: {v}"))
}

fn texts(v: &Value) -> Vec<&str> {
    list(v).iter().map(|t| t.as_str().unwrap()).collect()
}

/// The names of the catalogue's counters.
fn human(machine: &str) -> &'static str {
    counters::catalogue::by_machine(machine).unwrap().human
}

/// Without the one counter to which the marks of instrumented programs are instructions too.
fn unmarked(v: &Value) -> Value {
    match v {
        Value::Object(all) => {
            let kept = all.iter().filter(|(k, _)| *k != "MaliEngICacheMiss");
            kept.map(|(k, v)| (k.clone(), unmarked(v))).collect()
        }
        Value::Array(all) => all.iter().map(unmarked).collect(),
        v => v.clone(),
    }
}

/// The shape of docs/capture.md, and that it is the same on any number of threads.
#[test]
fn a_capture_has_what_its_page_says() {
    let folder = Folder::new("shape");
    let (c, said) = capture(&folder.at("one"), 1, &folder.at("product"));
    assert!(
        said.contains("of the modelled GPU") && said.contains("dearest") && said.contains("binds"),
        "{said}"
    );
    let text = |n: &str| std::fs::read(folder.at(n).join("capture.json")).unwrap();
    capture(&folder.at("two"), 2, &folder.at("product"));
    assert!(text("one") == text("two"), "other threads, another capture");
    assert_eq!((&c["version"], &c["runs_lost"]), (&json!(1), &json!(0)));
    let workloads = list(&c["workloads"]);
    let times: u64 = workloads.iter().map(|w| w["times"].as_u64().unwrap()).sum();
    assert_eq!(list(&c["runs"]).len() as u64, times);
    for (i, w) in workloads.iter().enumerate() {
        let runs: Vec<&Value> = list(&c["runs"]).iter().filter(|r| r["workload"] == i).collect();
        // A workload's whole numbers are its runs' added up, and so are its jobs' cycles and times.
        let sum = |of: &dyn Fn(&Value) -> u64| runs.iter().map(|r| of(r)).sum::<u64>();
        for name in ["TuffFmaInstr", "MaliFragWarp", "MaliCompWarp"] {
            let own = w["counters"][name].as_u64().unwrap_or(0);
            assert_eq!(sum(&|r| r["counters"][name].as_u64().unwrap_or(0)), own, "{name} of {}", w["name"]);
        }
        let span = |r: &Value| {
            let jobs = list(&r["jobs"]);
            jobs.last().unwrap()["end_ns"].as_u64().unwrap() - jobs[0]["begin_ns"].as_u64().unwrap()
        };
        assert_eq!(sum(&span), w["elapsed_ns"].as_u64().unwrap(), "{}", w["name"]);
        for (k, job) in list(&w["jobs"]).iter().enumerate() {
            let active = |r: &Value| r["jobs"][k]["active_cycles"].as_u64().unwrap();
            assert_eq!(sum(&active), job["active_cycles"].as_u64().unwrap());
            // What binds it is what bound its runs longest; what things would take is the runs' added up.
            let by = |key: &str| {
                let of = |r: &Value| r["jobs"][k]["bound"] == key;
                runs.iter().filter(|r| of(r)).map(|r| active(r)).sum::<u64>()
            };
            let bounds = job["bounds"].as_object().unwrap();
            assert!(bounds.iter().all(|(key, v)| v.as_u64() == Some(by(key))), "{job}");
            assert_eq!(bounds.values().filter_map(Value::as_u64).sum::<u64>(), sum(&active), "{job}");
            let most = bounds.values().filter_map(Value::as_u64).max();
            assert_eq!(bounds[job["bound"].as_str().unwrap()].as_u64(), most, "{job}");
            for (key, v) in job["takes"].as_object().unwrap() {
                assert_eq!(
                    v.as_u64(),
                    Some(sum(&|r| r["jobs"][k]["takes"][key].as_u64().unwrap_or(0))),
                    "{key}"
                );
            }
        }
        let queues: Vec<&str> = list(&w["jobs"]).iter().map(|j| j["queue"].as_str().unwrap()).collect();
        assert_eq!(
            queues,
            if w["kind"] == "render pass" { &["binning", "main"][..] } else { &["compute"][..] }
        );
    }
    // The city: a shadow map of 2048², and 1280 × 720 pixels.
    let passes = list(&c["passes"]);
    assert_eq!(passes.len(), 2);
    for (p, [w, h]) in passes.iter().zip([[2048u32, 2048], [1280, 720]]) {
        let (r, of) = (&p["regions"], &workloads[p["workload"].as_u64().unwrap() as usize]["counters"]);
        assert_eq!(p["picture_of"], json!([w, h]));
        assert_eq!(
            [&r["across"], &r["down"], &r["side"]],
            [&json!(w.div_ceil(64)), &json!(h.div_ceil(64)), &json!(64)]
        );
        // What regions counted is what the pass did. (Vertices that regions shade anew are rounded up in each.)
        for (name, rounded) in [("MaliFragRastQd", 0), ("MaliFragWarp", 0), ("TuffMainFmaInstr", 100)] {
            let Some(all) = r["counters"].get(name) else { continue };
            let sum: u64 = list(all).iter().map(|v| v.as_u64().unwrap()).sum();
            let whole = of[name].as_u64().unwrap();
            let most = whole + whole.checked_div(rounded).unwrap_or(0);
            assert!((whole..=most).contains(&sum), "{name} of {w}×{h}: {sum}, not {whole}");
        }
        // What draws counted is what the pass did, and cores' cycles are no more than its own.
        let run = &list(&c["runs"])[p["run"].as_u64().unwrap() as usize]["counters"];
        let draws = list(&p["draws"]);
        assert!(!draws.is_empty() && p["draws_lost"].is_null());
        let drawn = |name: &str| draws.iter().map(|d| d["counters"][name].as_u64().unwrap_or(0)).sum::<u64>();
        for name in ["MaliFragRastQd", "MaliFragWarp", "TuffFmaInstr", "TuffInputPrimitives"] {
            assert_eq!(drawn(name), run[name].as_u64().unwrap_or(0), "{name} of {w}×{h}");
        }
        let [all, own] = [drawn("MaliAnyActiveCy"), run["MaliAnyActiveCy"].as_u64().unwrap()];
        assert!((own / 10..=own).contains(&all), "{all} of {own} cycles");
        for d in draws {
            assert!(d["name"].as_str().unwrap().starts_with("vkCmdDraw"), "{d}");
        }
        let ppm = std::fs::read(folder.at("one").join(p["picture"].as_str().unwrap())).unwrap();
        let shades: BTreeSet<&[u8]> = ppm[15..].chunks_exact(3).collect();
        assert!(ppm.starts_with(b"P6\n") && shades.len() > 50, "{} shades", shades.len());
    }
    // Capturing changes no figure.
    let file = folder.at("plain.json");
    let mut plain = tuff();
    plain.arg("run").arg("--counters").arg(&file).args(["--", env!("CARGO_BIN_EXE_tuff"), "child"]);
    let output = json!({ "Output": { "kernel": "sgemm", "path": folder.at("product") } });
    run(plain, &format!("{{\"Own\":\"First\"}}\n{output}\n"));
    let plain: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for part in ["version", "gpu", "model", "total", "workloads", "frames"] {
        assert!(unmarked(&plain[part]) == unmarked(&c[part]), "{part} of a capture and of counters");
    }
    assert!(plain["runs"].is_null());
    let shaders = std::fs::read_dir(folder.at("one").join("shaders")).unwrap().count();
    assert!(shaders >= 10, "{shaders}");
}

#[test]
fn a_page_of_counters_alone_and_what_is_none() {
    let folder = Folder::new("plain");
    let (file, page) = (folder.at("plain.json"), folder.at("plain.html"));
    let mut command = tuff();
    command.arg("run").arg("--counters").arg(&file).arg("--report").arg(&page);
    command.args(["--", env!("CARGO_BIN_EXE_tuff"), "child"]);
    let said = run(command, "{\"Own\":\"First\"}\n");
    // Ten lines at most, then where the page is.
    assert!(said.lines().count() <= 11 && said.lines().last().unwrap().contains("plain.html: "), "{said}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("\"captured\":true"));
    report(&[&file], &page);
    assert!(std::fs::read_to_string(&page).unwrap().contains("\"captured\":false"));
    let fails = |file: &Path, say: &str| {
        let done = tuff().arg("report").arg(file).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(say), "{said}");
    };
    fails(&folder.at("nowhere.json"), "nowhere.json");
    std::fs::write(folder.at("other.json"), "{}").unwrap();
    fails(&folder.at("other.json"), "neither a capture nor");
    let newer = std::fs::read_to_string(&file).unwrap().replacen("\"version\":1", "\"version\":99", 1);
    std::fs::write(folder.at("newer.json"), newer).unwrap();
    fails(&folder.at("newer.json"), "newer than this program's");
}
