//! `tuff history`: what a CI job appends commit by commit, and the page of it in headless Chromium.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// A folder of the test's, gone when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Costs of a commit: two workloads, of which the second's shader is edited whenever it costs something else.
fn costs(a: u64, b: u64) -> String {
    let shader = |hash: String, tail: u64| json!({ "stage": "compute", "entry": "main", "hash": hash, "interface": "1", "sketch": format!("{:08x}{:08x}{tail:08x}", 1, 2) });
    let row = |name: &str, stage: usize, hash: String, cycles: u64| {
        json!({ "device": 0, "queue": 0, "kind": "dispatch", "label": "", "name": name, "shaders": hash, "stages": [stage], "times": 1,
            "elapsed_ns": cycles, "counters": { "MaliGPUActiveCy": cycles, "TuffFmaInstr": cycles * 2 } })
    };
    let (x, y) = ("aa".to_string(), format!("b{b}"));
    json!({
        "version": 1, "gpu": "g720 <b>", "model": {}, "total": { "MaliGPUActiveCy": a + b, "TuffFmaInstr": 2 * (a + b) },
        "workloads": [row("sky", 0, x.clone(), a), row("lit", 1, y.clone(), b)], "shaders": [shader(x, 9), shader(y, b)], "frames": [],
    })
    .to_string()
}

/// Three commits: 100 + 50, 100 + 60, 90 + 60 cycles. Both workloads and the total have a step at the second or third.
#[test]
fn steps_are_found_commit_by_commit() {
    let folder = Folder(client::scratch("history").unwrap());
    std::fs::create_dir_all(&folder.0).unwrap();
    let at = |name: &str| folder.0.join(name).display().to_string();
    std::fs::write(at("tuff.toml"), "[total]\ncycles = { max = 155 }\n").unwrap();
    let run = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_tuff")).arg("history").args(words).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let append = |commit: &str, a: u64, b: u64| {
        std::fs::write(at("cost.json"), costs(a, b)).unwrap();
        run(&[
            "--append",
            &at("h.jsonl"),
            "--commit",
            commit,
            "--title",
            "A </script> title",
            "-o",
            &at("h.html"),
            "--link",
            "https://example.org/{commit}",
            "--thresholds",
            &at("tuff.toml"),
            &at("cost.json"),
        ])
    };
    assert!(append("c1", 100, 50).0);
    assert!(append("c2", 100, 60).0);
    assert!(append("c3", 1, 1).0);
    // Measured anew: the line is replaced.
    let (ok, said) = append("c3", 90, 60);
    assert!(ok && said.contains("3 commits, 2 workloads, 4 steps"), "{said}");
    assert_eq!(std::fs::read_to_string(at("h.jsonl")).unwrap().lines().count(), 3);
    let page = std::fs::read_to_string(at("h.html")).unwrap();
    let start = page.find("id=\"data\">").unwrap() + 10;
    let data: Value =
        serde_json::from_str(&page[start..start + page[start..].find("</script>").unwrap()]).unwrap();
    let of = |i: usize| (data["series"][i]["name"].as_str().unwrap(), &data["series"][i]["values"][0]);
    assert_eq!(of(0), ("all workloads", &json!([150.0, 160.0, 150.0])));
    assert_eq!(of(1), ("dispatch sky", &json!([100.0, 100.0, 90.0])));
    assert_eq!(of(2), ("dispatch lit", &json!([50.0, 60.0, 60.0])));
    assert_eq!(data["series"][0]["budgets"][0], 155.0);
    // The same of files that are called by their commits.
    for (commit, a, b) in [("c1", 100, 50), ("c2", 100, 60)] {
        std::fs::write(at(&format!("{commit}.json")), costs(a, b)).unwrap();
    }
    let (ok, said) = run(&[&at("c1.json"), &at("c2.json"), "-o", &at("two.html")]);
    assert!(ok && said.contains("2 commits, 2 workloads, 2 steps"), "{said}");
    for (words, why) in [
        (vec!["--link".into(), "javascript:x".into(), at("c1.json")], "neither https:// nor http://"),
        (vec![at("tuff.toml")], "tuff.toml: "),
        (vec![at("none.json")], "none.json: "),
    ] {
        let words: Vec<&str> = words.iter().map(|w: &String| w.as_str()).collect();
        let (ok, said) = run(&words);
        assert!(!ok && said.contains(why), "{said}");
    }
    browsed(&folder, &page);
}

/// Reads the page as a person does, 400 pixels wide: the chart of all by keys, and the table of steps.
fn browsed(folder: &Folder, page: &str) {
    if !not_run::has_program("chromium") {
        return not_run::say("steps_are_found_commit_by_commit", "chromium");
    }
    let script = r#"<script>
      const $ = (s) => document.querySelector(s);
      const press = (k) => $('.chart svg').dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));
      const value = () => $('.chart .value').textContent + '|' + $('.chart .now').textContent;
      const read = { last: value() };
      press('p'); read.step = value();
      press('p'); read.before = value();
      press('Home'); read.first = value();
      read.steps = [...document.querySelectorAll('#steps-table tbody tr')].map((r) => [...r.children].map((c) => c.textContent));
      read.link = $('#steps-table a').href;
      read.wide = document.documentElement.scrollWidth;
      read.charts = document.querySelectorAll('#charts .chart').length;
      parent.postMessage(JSON.stringify(read), '*');
    </script>"#;
    let (before, after) = page.rsplit_once("</body>").unwrap();
    let inner = json!(format!("{before}{script}</body>{after}")).to_string().replace("</", "<\\/");
    let outer = format!(
        "<body><iframe id=f style='width:400px;height:800px'></iframe><pre id=read></pre><script>addEventListener('message', (e) => {{ \
         document.getElementById('read').textContent = e.data; }}); f.srcdoc = {inner}</script></body>"
    );
    let file = folder.0.join("read.html");
    std::fs::write(&file, outer).unwrap();
    let mut chromium = Command::new("timeout");
    chromium.args([
        "120",
        "chromium",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=3000",
    ]);
    chromium.arg(format!("--user-data-dir={}", folder.0.join("profile").display()));
    let done = chromium.arg("--dump-dom").arg(format!("file://{}", file.display())).output().unwrap();
    let dom = String::from_utf8_lossy(&done.stdout);
    let start = dom.rfind("<pre id=\"read\">").expect("a result") + 15;
    let text = dom[start..start + dom[start..].find("</pre>").unwrap()]
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let read: Value = serde_json::from_str(&text).unwrap();
    let of = |k: &str| read[k].as_str().unwrap().to_string();
    assert!(of("last").starts_with("150|c3 A </script> title: −6.3 % from 160"), "{read}");
    // The previous step is the second commit's, the one before that there is none: it stays.
    assert!(of("step").starts_with("160 over the budget of 155|c2"), "{read}");
    assert_eq!(of("before"), of("step"));
    assert!(of("first").starts_with("150|c1"), "{read}");
    assert_eq!(read["steps"].as_array().unwrap().len(), 4);
    assert_eq!(read["steps"][0][0], "c3 A </script> title");
    assert_eq!((of("link").as_str(), read["charts"].as_u64()), ("https://example.org/c3", Some(2)));
    assert!(read["wide"].as_u64().unwrap() <= 400, "{read}");
}
