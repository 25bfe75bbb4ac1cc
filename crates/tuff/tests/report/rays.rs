//! Views of acceleration structures and of the demo's paths.

use super::*;

#[test]
fn structures_of_the_traced_city_are_shown_with_its_rays() {
    const NAME: &str = "structures_of_the_traced_city_are_shown_with_its_rays";
    if !not_run::has_program("chromium") {
        return not_run::say(NAME, "chromium");
    }
    let folder = Folder::new("structures");
    let mut command = tuff();
    command.args(["run", "--check", "--capture"]).arg(folder.at("city"));
    command.args(["--", env!("CARGO_BIN_EXE_tuff"), "child"]);
    let ask = json!({ "Own": { "Paths": { "size": [64, 36], "rgba": folder.at("rgba") } } });
    run(command, &format!("{ask}\n"));
    let c = read(&folder.at("city"));
    let page = folder.at("page.html");
    report(&[&folder.at("city")], &page);
    let seen = browse(&folder, &page, None);
    let structures = list(&c["structures"]);
    let heads = texts(&seen["structureHeads"]);
    let shown = list(&seen["structures"]);
    assert!(structures.len() >= 2 && shown.len() == structures.len(), "{shown:?}");
    let tops: Vec<usize> = (0..structures.len()).filter(|i| structures[*i]["kind"] == "instances").collect();
    let [top] = tops[..] else { panic!("{tops:?}") };
    // All that its rays are is told: those of all runs, which the unit has counted.
    let of = |v: &Value| list(v).iter().map(|t| t[1].as_u64().unwrap()).sum::<u64>();
    let all_rays = of(&structures[top]["traces"]);
    assert_eq!(Some(all_rays), c["total"]["MaliRTURay"].as_u64());
    for (i, (s, told)) in structures.iter().zip(shown).enumerate() {
        let cell = |head: &str| &told["cells"][heads.iter().position(|h| *h == head).unwrap()];
        for (head, key) in [
            ("Primitives", "primitives"),
            ("Nodes", "nodes"),
            ("Depth", "depth"),
            ("Builds", "builds"),
            ("Updates", "updates"),
        ] {
            assert_eq!(digits(cell(head)), s[key].to_string(), "{head} of {i}");
        }
        let number = |v: &Value| tight(v).parse::<f64>().unwrap();
        let cost = s["node_cost"].as_f64().unwrap() + s["leaf_cost"].as_f64().unwrap();
        assert!((number(cell("Cost")) - cost).abs() <= 0.005 * cost, "{cost}: {told}");
        let overlap = s["overlap"].as_f64().unwrap();
        assert!((number(cell("Overlap")) - overlap).abs() <= 0.006, "{overlap}: {told}");
        // Every structure is the top one, or one of its instances.
        assert_eq!(digits(cell("Rays")), all_rays.to_string(), "{i}");
        let traces = list(&told["traces"]);
        assert_eq!(traces.iter().map(|t| digits(&t[2]).parse::<u64>().unwrap()).sum::<u64>(), all_rays);
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains(if i == top { "Instances of" } else { "Instances in" }), "{detail}");
    }
    for (head, key) in [("Bytes", "bytes"), ("Primitives", "primitives")] {
        let order = list(&seen["structuresBy"][head])
            .iter()
            .map(|i| structures[i.as_u64().unwrap() as usize][key].as_u64());
        assert!(order.is_sorted_by(|a, b| a >= b), "by {head}");
    }
    assert_eq!(seen["structureDown"], seen["structuresBy"]["Primitives"][1]);
    let narrow = browse(&folder, &page, Some(400));
    let wide = list(&narrow["wide"]);
    assert!(
        wide.iter().any(|v| v[0] == "structures") && wide.iter().all(|v| v[1].as_u64() <= Some(400)),
        "{wide:?}"
    );
    // A structure of a file that says nothing of the kind is refused.
    let mut damaged = c.clone();
    damaged["structures"][0]["from"] = json!(structures.len());
    std::fs::write(folder.at("damaged.json"), damaged.to_string()).unwrap();
    let done = tuff().arg("report").arg(folder.at("damaged.json")).output().unwrap();
    assert!(!done.status.success() && String::from_utf8_lossy(&done.stderr).contains("structure"));
}

/// The demo's page shows the path-traced picture, and its cost by bounce as the counters have it.
#[test]
fn the_demos_page_shows_its_paths() {
    if !not_run::has_program("chromium") {
        return not_run::say("the_demos_page_shows_its_paths", "chromium");
    }
    let folder = Folder::new("demo");
    let mut command = tuff();
    command.args(["demo", "--only", "page", "--out"]).arg(folder.at("demo.png"));
    run(command, "");
    let seen = browse(&folder, &folder.at("demo.html"), None);
    let [figure] = &list(&seen["figures"])[..] else { panic!("{}", seen["figures"]) };
    assert_eq!((&figure["title"], &figure["picture"]), (&json!("The city, path traced"), &json!([640, 360])));
    let rows = list(&figure["rows"]);
    let names: Vec<&str> = rows.iter().map(|r| r[0].as_str().unwrap()).collect();
    assert_eq!(names, ["from the camera", "bounce 1", "bounce 2", "bounce 3", "pixels"]);
    // Two paths a pixel begin, and each ray is a path's or one to the sun.
    let number = |v: &Value| digits(v).parse::<u64>().unwrap();
    let rays: Vec<[u64; 2]> = rows[..4].iter().map(|r| [number(&r[1]), number(&r[2])]).collect();
    assert_eq!(rays[0][0] - rays[0][1], 2 * 640 * 360);
    assert!(rays.windows(2).all(|r| r[1][0] < r[0][0] && r[1][0] > 0), "{rays:?}");
    assert!(rows.iter().all(|r| r[6].as_str().unwrap().ends_with(" ms")), "{rows:?}");
    // The view of structures tells of the same rays.
    let all: u64 = rays.iter().map(|r| r[0]).sum();
    let structures = list(&seen["structures"]);
    let told =
        structures.iter().flat_map(|s| list(&s["traces"]).iter().map(|t| number(&t[2])).collect::<Vec<_>>());
    assert_eq!(told.sum::<u64>(), structures.len() as u64 * all);
}
