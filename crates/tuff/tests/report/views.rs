//! Every view of a page, clicked through in a browser, shows the capture's figures.

use super::*;
use std::collections::BTreeMap;

/// A capture of a thousand runs more, of twice the time in one workload: what a page of it is compared with.
fn longer(c: &Value) -> Value {
    let mut c = c.clone();
    let runs = list(&c["runs"]).clone();
    let many: Vec<Value> = (0..1000)
        .map(|i| {
            let mut r = runs[i % runs.len()].clone();
            r["frame"] = json!(i / runs.len());
            for j in r["jobs"].as_array_mut().unwrap() {
                for t in ["begin_ns", "end_ns"] {
                    j[t] = json!(j[t].as_u64().unwrap() + 10_000_000 * (i / runs.len()) as u64);
                }
            }
            r
        })
        .collect();
    c["runs"] = many.into();
    // And a pass of a thousand draws.
    let last = c["passes"].as_array_mut().unwrap().last_mut().unwrap();
    let draws = list(&last["draws"]).clone();
    // No two alike, as of a real program: names and counts are each draw's own.
    let draw = |i: usize| {
        let mut d = draws[i % draws.len()].clone();
        d["name"] = json!(format!("{} {i}", d["name"].as_str().unwrap()));
        for v in d["counters"].as_object_mut().unwrap().values_mut() {
            if let Some(n) = v.as_u64() {
                *v = json!(n + i as u64 * 7919 % 1000);
            }
        }
        d
    };
    last["draws"] = (0..1000).map(draw).collect();
    let frame = json!({ "device": 0, "queue": 0, "frame": 0, "counters": c["total"] });
    c["frames"] = (0..1000 / runs.len())
        .map(|i| {
            let mut f = frame.clone();
            f["frame"] = json!(i);
            f
        })
        .collect();
    let active = c["workloads"][0]["counters"]["MaliGPUActiveCy"].as_u64().unwrap();
    c["workloads"][0]["counters"]["MaliGPUActiveCy"] = json!(active * 2);
    c["total"]["MaliGPUActiveCy"] = json!(c["total"]["MaliGPUActiveCy"].as_u64().unwrap() + active);
    c
}

#[test]
fn every_view_of_the_page_shows_the_captures_figures() {
    if !not_run::has_program("chromium") {
        return not_run::say("every_view_of_the_page_shows_the_captures_figures", "chromium");
    }
    let folder = Folder::new("page");
    let (before, _) = capture(&folder.at("before"), 2, &folder.at("product"));
    let after = longer(&before);
    // The same pictures and shaders.
    std::fs::create_dir(folder.at("after")).unwrap();
    std::os::unix::fs::symlink(folder.at("before").join("passes"), folder.at("after").join("passes"))
        .unwrap();
    std::fs::create_dir(folder.at("after").join("shaders")).unwrap();
    for f in std::fs::read_dir(folder.at("before").join("shaders")).unwrap() {
        let f = f.unwrap();
        std::fs::copy(f.path(), folder.at("after").join("shaders").join(f.file_name())).unwrap();
    }
    let lines = with_source(&folder.at("after").join("shaders"));
    std::fs::write(folder.at("after").join("capture.json"), after.to_string()).unwrap();

    let page = folder.at("page.html");
    report(&[&folder.at("after")], &page);
    let size = std::fs::metadata(&page).unwrap().len();
    let alone = browse(&folder, &page, None);
    let took = |told: &Value| told["opened"].as_f64().unwrap();
    let mut opened = took(&alone);
    for _ in 0..2 {
        // Something else may have had the machine.
        if opened > 1000.0 {
            opened = opened.min(took(&browse(&folder, &page, None)));
        }
    }
    eprintln!("a report of 1000 runs and a pass of 1000 draws: {size} bytes, opened in {opened:.0} ms");
    assert!(size <= 3_000_000, "{size} bytes");
    assert!(opened <= 1000.0, "{opened} ms");
    let text = std::fs::read_to_string(&page).unwrap();
    for foreign in ["src=\"http", "href=\"http", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!text.contains(foreign), "the page asks for {foreign}");
    }
    table(&alone, &after);
    draws(&alone, &after);
    time_line(&alone, &after);
    regions(&alone, &after);
    shaders(&alone, &lines);
    first(&alone, &after);
    // Colours and keys.
    let themes = list(&alone["themes"]);
    assert_eq!([&themes[0][0], &themes[1][0], &themes[2][0]], ["light", "dark", ""]);
    assert_ne!(themes[0][1], themes[1][1]);
    assert_eq!(
        [&alone["arrow"], &alone["reachable"], &alone["unnamed"]],
        [&json!("tab-table"), &json!(1), &json!(0)]
    );

    report(&[&folder.at("after"), &folder.at("before")], &page);
    let both = browse(&folder, &page, None);
    compared(&both, &after);
    assert_eq!(both["titles"], json!(["after", "before"]));
    let narrow = browse(&folder, &page, Some(400));
    assert_eq!(narrow["width"], 400);
    for view in list(&narrow["wide"]) {
        assert!(view[1].as_u64().unwrap() <= 400, "{view} pixels");
    }
    assert_eq!(list(&narrow["wide"]).len(), 8);
    let ranged = list(&both["range"]["rows"]);
    // The same runs of the other capture: those of the first time alone have twins there.
    assert!(ranged.iter().all(|r| list(r).len() == 6), "{ranged:?}");
    assert_eq!(both["lines"], json!([]), "no shader was edited");

    // Advice, of which only a capture as the driver writes it has the facts: what the command says.
    report(&[&folder.at("before")], &page);
    let read = browse(&folder, &page, Some(400));
    let done = tuff().arg("advise").arg(folder.at("before")).arg("--json").output().unwrap();
    let said: Value = serde_json::from_slice(&done.stdout).unwrap();
    let (shown, items) = (list(&read["advice"]), list(&said["items"]));
    assert!(!items.is_empty() && shown.len() == items.len(), "{shown:?} {items:?}");
    for (n, (shown, item)) in shown.iter().zip(items).enumerate() {
        let word = |key: &str| item[key].as_str().unwrap();
        assert_eq!(shown[0], format!("{}. {} {}", n + 1, word("title"), word("rule")));
        let text = shown[1].as_str().unwrap();
        assert!(text.contains(word("says")) && text.contains(word("threshold")), "{text}");
    }
    assert_eq!(read["led"], "view-table");
    // With a schedule there are warps.
    let warps = read["warps"].as_f64().unwrap();
    assert!(warps > 0.0 && warps <= 100.0, "{warps}");
    for view in list(&read["wide"]) {
        assert!(view[1].as_u64().unwrap() <= 400, "{view} pixels");
    }
}

/// A time as the page writes it.
fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.2}s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.2}ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.1}µs", ns / 1e3),
        ns => format!("{ns:.0}ns"),
    }
}

/// The page begins with the dearest workload; and a range of the whole time line adds up to all runs.
fn first(read: &Value, c: &Value) {
    let cycles = |of: &Value| of["counters"]["MaliGPUActiveCy"].as_f64().unwrap_or(0.0);
    let dearest = list(&c["workloads"]).iter().max_by(|a, b| cycles(a).total_cmp(&cycles(b))).unwrap();
    let title = read["first"]["title"].as_str().unwrap();
    assert!(
        title.starts_with("Look here first: ") && title.ends_with(dearest["name"].as_str().unwrap()),
        "{title}"
    );
    assert!(read["first"].to_string().contains("Bound by"), "{}", read["first"]);
    assert_eq!(read["whole"], list(&c["workloads"]).len());
    assert_eq!(read["times"][0], "GPU time");
    let clock = c["model"]["clock_mhz"].as_f64().unwrap() / 1000.0;
    let all: f64 = list(&c["runs"]).iter().map(|r| cycles(r) / clock).sum();
    assert_eq!(tight(&read["range"]["time"]), time(all));
    assert!(
        read["dropped"].is_null() && read["rangeOfJob"][0].as_str().unwrap().starts_with("Range: "),
        "{}",
        read["rangeOfJob"]
    );
}

/// The last pass's, by the button of its workload.
fn draws(read: &Value, c: &Value) {
    let passes = list(&c["passes"]);
    let all: usize = passes.iter().map(|p| list(&p["draws"]).len()).sum();
    assert_eq!(read["draws"], all.min(400));
    assert_eq!(read["drawFilter"], format!("pass:{}", passes.len() - 1));
    assert!(tight(&read["drawNote"]).contains(&format!("1000of{all}rows")), "{}", read["drawNote"]);
    let before = all - 1000;
    let draws = list(&passes[passes.len() - 1]["draws"]);
    let heads = texts(&read["drawHeads"]);
    let rows = list(&read["passDraws"]);
    let mut checked = 0;
    for row in rows {
        let d = &draws[row[0].as_u64().unwrap() as usize - before];
        assert!(row[2].as_str().unwrap().ends_with(d["name"].as_str().unwrap()), "{row}");
        assert_eq!(digits(&row[4]), d["counters"]["MaliAnyActiveCy"].as_u64().unwrap_or(0).to_string());
        for name in ["MaliFragWarp", "MaliFragRastQd", "TuffFmaInstr"] {
            let at =
                heads.iter().position(|h| *h == human(name)).unwrap_or_else(|| panic!("no column {name}"));
            let v = d["counters"][name].as_u64().unwrap_or(0);
            assert_eq!(digits(&row[at + 1]), v.to_string(), "{name} of {}", d["name"]);
            checked += 1;
        }
    }
    assert!(checked > 1000, "{checked} figures");
    let cycles: Vec<u64> = rows.iter().map(|r| digits(&r[4]).parse().unwrap()).collect();
    assert!(cycles.is_sorted_by(|a, b| a >= b), "the dearest first");
    assert!(read["drawDetail"].as_str().unwrap().contains("All draws of its pass"));
}

fn table(read: &Value, c: &Value) {
    let workloads = list(&c["workloads"]);
    let heads = texts(&read["heads"]);
    let rows = list(&read["workloads"]);
    assert_eq!(rows.len(), workloads.len());
    let mut checked = 0;
    for row in rows {
        let w = &workloads[row[0].as_u64().unwrap() as usize];
        assert!(row[1].as_str().unwrap().ends_with(&format!(
            "{} {}",
            w["kind"].as_str().unwrap(),
            w["name"].as_str().unwrap()
        )));
        assert_eq!(digits(&row[2]), w["times"].to_string());
        for (name, v) in w["counters"].as_object().unwrap() {
            let unit = counters::catalogue::by_machine(name).unwrap().unit;
            let (Some(v), false) = (v.as_u64(), ["bytes", "percent", "nanoseconds"].contains(&unit)) else {
                continue;
            };
            let at =
                heads.iter().position(|h| *h == human(name)).unwrap_or_else(|| panic!("no column {name}"));
            assert_eq!(digits(&row[at + 1]), v.to_string(), "{name} of {}", w["name"]);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} figures");
    // One time: what all took, on the first card, is the sum of the column.
    let foot = texts(&read["foot"]);
    let at = heads.iter().position(|h| *h == "Time").unwrap();
    let card = texts(&read["cards"])[0];
    assert_eq!(card.strip_suffix("modelled GPU time"), Some(foot[at]), "{foot:?}");
    // By times, most first and the other way; by words.
    let times = |order: &Value| {
        list(order)
            .iter()
            .map(|i| workloads[i.as_u64().unwrap() as usize]["times"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert!(times(&read["byTimes"]).is_sorted_by(|a, b| a >= b) && times(&read["byTimesUp"]).is_sorted());
    let dispatches = workloads.iter().filter(|w| w["kind"] == "dispatch").count();
    assert!(dispatches > 0);
    assert_eq!(list(&read["dispatches"]).len(), dispatches);
    assert_eq!(list(&read["others"]).len(), workloads.len() - dispatches);
    assert!(read["detail"].as_str().unwrap().contains("bound by"));
    assert_eq!(read["runs"], 400);
    assert!(tight(&read["runNote"]).contains("of1000rows"), "{}", read["runNote"]);
    assert_eq!(list(&read["frames"]).len(), list(&c["frames"]).len());
}

fn time_line(read: &Value, c: &Value) {
    assert_eq!(read["view"], "view-timeline");
    let jobs: Vec<&Value> = list(&c["runs"]).iter().flat_map(|r| list(&r["jobs"])).collect();
    let windows = texts(&read["window"]);
    let count = format!("{}jobs", jobs.len());
    assert!(list(&read["window"]).iter().all(|w| tight(w).ends_with(&count)), "{windows:?}");
    assert!(windows[0] != windows[1] && windows[1] != windows[2] && windows[0] == windows[3], "{windows:?}");
    assert!(read["drawn"].as_u64().unwrap() > 20 && read["laneColours"].as_u64().unwrap() > 10);
    let mut order = jobs.clone();
    order.sort_by_key(|j| j["begin_ns"].as_u64());
    for (told, job) in [&read["job"], &read["nextJob"]].iter().zip(order) {
        let told = tight(told);
        assert!(told.contains(&format!("{}queue", job["queue"].as_str().unwrap())), "{told}");
        assert!(told.contains(&format!("Active{}cycles", job["active_cycles"])), "{told}");
        assert!(told.contains(&format!("Waited{}cycles", job["waited_cycles"])), "{told}");
    }
}

fn regions(read: &Value, c: &Value) {
    let passes = list(&c["passes"]);
    let seen = list(&read["passes"]);
    assert_eq!(seen.len(), passes.len());
    let mut checked = 0;
    for s in seen {
        let r = &passes[s["pass"].as_u64().unwrap() as usize]["regions"];
        assert!(s["colours"].as_u64().unwrap() > 20, "a picture and heat");
        assert_eq!(list(&s["counters"]).len(), r["counters"].as_object().unwrap().len());
        for told in list(&s["counters"]) {
            let name = told[0].as_str().unwrap();
            let k = counters::catalogue::by_human(name).unwrap();
            let values: Vec<f64> =
                list(&r["counters"][k.machine]).iter().map(|v| v.as_f64().unwrap()).collect();
            if ["bytes", "percent", "nanoseconds"].contains(&k.unit)
                || values.iter().any(|v| v.fract() != 0.0)
            {
                continue;
            }
            let most = values.iter().copied().fold(0.0, f64::max);
            assert_eq!(digits(&told[1]), most.to_string(), "{name}");
            for told in [&told[2], &told[3]] {
                let (place, value) = told.as_str().unwrap().rsplit_once(": ").unwrap();
                let place = place.strip_prefix("Region ").unwrap().split_once(" (").unwrap().0;
                let [x, y] =
                    place.split_once(", ").map(|(x, y)| [x, y].map(|n| n.parse::<usize>().unwrap())).unwrap();
                let v = values[y * r["across"].as_u64().unwrap() as usize + x];
                assert_eq!(digits(&json!(value)), v.to_string(), "{name}");
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked} figures");
}

/// Puts a shader with its source there, whose block i ran 10 + i times and cost 1000 + i cycles; what each line must show.
fn with_source(folder: &Path) -> BTreeMap<u32, u64> {
    let spv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shader/tests/instrument/trips.debug.spv");
    let bytes = std::fs::read(spv).unwrap();
    let module = shader::Module::parse(shader::words(&bytes)).unwrap();
    let table = shader::instrument::blocks(&module, shader::instrument::Entry::Named("main", None)).unwrap();
    let mut lines = BTreeMap::new();
    for b in &table {
        *lines.entry(b.line).or_default() += 1000 + u64::from(b.index);
    }
    let rows: Vec<Value> = table
        .iter()
        .map(|b| json!({ "index": b.index, "values": [10 + b.index, 1000 + b.index], "once": [8, 0, 0, 0, 0, 0] }))
        .collect();
    let metrics = ["Executed warps", "Arithmetic cycles"];
    let once = ["FMA", "CVT", "SFU", "Load/store", "Texture", "Varying slots"];
    let all = json!({ "stage": "compute", "entry": "main", "registers": 7, "metrics": metrics, "once": once, "blocks": rows });
    std::fs::write(folder.join("compute-main-trips.spv"), bytes).unwrap();
    std::fs::write(folder.join("compute-main-trips.json"), all.to_string()).unwrap();
    lines.remove(&0);
    lines
}

fn shaders(read: &Value, lines: &BTreeMap<u32, u64>) {
    let all = list(&read["shaders"]);
    assert!(all.len() >= 5, "{} shaders", all.len());
    let heat = |s: &Value| {
        let cycles = s["heat"].as_str().unwrap().split_once(" cycles").unwrap().0;
        digits(&json!(cycles)).parse::<u64>().unwrap()
    };
    assert!(all.iter().map(heat).is_sorted_by(|a, b| a >= b), "the hottest first");
    for s in all {
        // Cycles of the blocks add up to the shader's.
        let sum: u64 = list(&s["blocks"]).iter().map(|b| digits(&b[4]).parse::<u64>().unwrap_or(0)).sum();
        if list(&s["blocks"]).len() < 60 {
            assert_eq!(sum, heat(s), "{}", s["name"]);
        }
        assert!(s["code"].as_u64().unwrap() > 3 && s["here"] == 1, "{s}");
        // The flame graph: the shader, which has all cycles, then functions and blocks; zoomed in and out again.
        let bars = list(&s["flame"]["all"]);
        let root = bars[0][1].as_str().unwrap();
        assert!(tight(&bars[0][1]).contains(&format!(":{}cycles,100%", heat(s))), "{root}");
        assert!(bars.iter().any(|b| b[0] == 2), "{bars:?}");
        assert_eq!(s["flame"]["back"], bars.len());
    }
    assert!(heat(&all[0]) > 1000);
    // The one with a source shows it, with numbers at the lines where blocks begin.
    let trips = all.iter().find(|s| s["name"].as_str().unwrap().contains("trips.comp")).unwrap();
    // What binds a line: all that was measured is arithmetic, and lines share their block's 1000 and more cycles.
    let stalls = list(&trips["stalls"]);
    assert!(
        stalls.len() > 5 && stalls.iter().all(|l| l[1].as_str().unwrap().starts_with("trips.comp:")),
        "{stalls:?}"
    );
    let cycles: u64 = stalls.iter().map(|l| digits(&l[4]).parse::<u64>().unwrap_or(0)).sum();
    let all: u64 = lines.values().sum();
    assert!(
        cycles.abs_diff(all) <= 2000 && stalls.iter().any(|l| l[2] == "arithmetic"),
        "{cycles} of {all}: {stalls:?}"
    );
    let shown = list(&trips["lines"])
        .iter()
        .map(|l| (digits(&l[1]).parse().unwrap(), digits(&l[0]).parse().unwrap()));
    assert_eq!(shown.collect::<BTreeMap<u32, u64>>(), *lines);
}

fn compared(read: &Value, after: &Value) {
    let workloads = list(&read["compared"]);
    // Of all workloads one differs, by twice its time.
    assert_eq!(workloads.len(), 1, "{workloads:?}");
    let row = list(&workloads[0]);
    assert!(row[0][0].as_str().unwrap().ends_with(after["workloads"][0]["name"].as_str().unwrap()));
    let change = row.iter().find(|c| c[0].as_str().unwrap().contains('%')).unwrap();
    assert_eq!((&change[0], &change[1]), (&json!("▲ +100 %"), &json!("up")));
    assert!(list(&read["totals"]).iter().any(|r| r[0][0] == "GPU time" && r.to_string().contains("▲")));
}
