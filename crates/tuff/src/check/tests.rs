use super::*;
use counters::{Event, Phase, Unit};
use serde_json::json;

/// What two workloads of one device count that agrees with the model: a pass and a dispatch.
fn counts() -> [Counts; 2] {
    use Event::*;
    let (mut pass, mut dispatch) = (Counts::default(), Counts::default());
    let events = [
        (InputVertices, 30),
        (InputPrimitives, 10),
        (ClippingInvocations, 10),
        (Triangles, 9),
        (Lines, 1),
        (PrimsVisible, 6),
        (PrimsFrontVisible, 4),
        (PrimsBackVisible, 1),
        (PrimsFaceCulled, 2),
        (PrimsFrustumCulled, 1),
        (PrimsSampleCulled, 1),
        (VertexInvocations, 30),
        (VaryingTasks, 5),
        (VaryingCacheMisses, 18),
        (BinEntries, 12),
        (BinningJobs, 1),
        (BinningTasks, 1),
        (MainJobs, 1),
        (MainTasks, 4),
        (Tiles, 14),
        (TilesKilled, 3),
        (QuadsRasterised, 500),
        (QuadsPartial, 40),
        (CoarseQuads, 500),
        (QuadsEzsTested, 300),
        (QuadsEzsKilled, 60),
        (QuadsFpkKilled, 40),
        (QuadsShaded, 400),
        (QuadsOccluding, 440),
        (FragmentInvocations, 1500),
        (BlendQuads, 400),
        (TilePixelsWritten, 4096),
        (TileWriteBeats, 1024),
        (BinningQueuedCycles, 1030),
        (BinningBlockedCycles, 10),
        (BinningActiveCycles, 1020),
        (BinningDrainCycles, 5),
        (BinningStreamCycles, 1030),
        (MainStreamCycles, 2700),
        (MainStreamWaits, 100),
        (AssemblyStallCycles, 20),
        (PositionStallCycles, 4),
        (StarvedCycles, 900),
        (ExtWriteStallCycles, 40),
        (ExtWritesQuarter1, 200),
        (MainQueuedCycles, 2600),
        (MainActiveCycles, 2600),
        (GpuActiveCycles, 3620),
        (AnyQueueActive, 3620),
        (CoreMainCycles, 5000),
        (CoreNonMainCycles, 100),
        (CoreAnyCycles, 5100),
        (CoreExecCycles, 4000),
    ];
    events.into_iter().for_each(|(e, n)| pass[e] = n);
    for (unit, n) in [(Unit::Warps, 120), (Unit::Threads, 1600), (Unit::FullWarps, 80), (Unit::Fma, 9001)] {
        pass[(Phase::Main, unit)] = n;
    }
    for (unit, n) in [(Unit::Warps, 2), (Unit::Threads, 30), (Unit::FullWarps, 1), (Unit::Sfu, 43)] {
        pass[(Phase::Binning, unit)] = n;
    }
    pass[(Phase::Main, Unit::TexFilterOps)] = 6400;
    pass[(Phase::Main, Unit::ExtWrites)] = 256;
    let events = [
        (ComputeJobs, 1),
        (ComputeTasks, 16),
        (ComputeInvocations, 1024),
        (ComputeQueuedCycles, 1300),
        (ComputeActiveCycles, 1300),
        (ComputeStreamCycles, 1300),
        (ExtReadLatency128, 250),
        (ExtReadsQuarter2, 300),
        (GpuActiveCycles, 900),
        (AnyQueueActive, 900),
        (CoreNonMainCycles, 2000),
        (CoreAnyCycles, 2000),
        (CoreExecCycles, 1800),
    ];
    events.into_iter().for_each(|(e, n)| dispatch[e] = n);
    let units = [
        (Unit::Warps, 64),
        (Unit::Threads, 1024),
        (Unit::FullWarps, 64),
        (Unit::Cvt, 401),
        (Unit::LsReadFull, 300),
        (Unit::LsL2ReadBeats, 1200),
        (Unit::LsExtReadBeats, 1200),
        (Unit::L2ReadLookups, 300),
        (Unit::ExtReads, 300),
    ];
    units.into_iter().for_each(|(u, n)| dispatch[(Phase::Compute, u)] = n);
    [pass, dispatch]
}

fn of(c: &Counts, m: &Model) -> Value {
    let value = |k: &&Counter| match k.value(c, m) {
        counters::Value::Uint64(v) => json!(v),
        counters::Value::Float64(v) => json!(v),
    };
    let values = catalogue::reported().iter().map(|k| (k.machine.to_string(), value(k)));
    values.collect::<serde_json::Map<_, _>>().into()
}

/// A file with these workloads; the dispatch began while the pass was going on.
fn good() -> Value {
    let (m, [pass, dispatch]) = (Model::default(), counts());
    let mut total = pass;
    total += &dispatch;
    json!({
        "gpu": m.name,
        "model": m,
        "total": of(&total, &m),
        "workloads": [
            {
                "device": 0, "queue": 0, "kind": "render pass", "label": "frame", "name": "64x64", "times": 1,
                "begin_ns": 10, "end_ns": 3010, "elapsed_ns": 3000, "counters": of(&pass, &m),
            },
            {
                "device": 0, "queue": 1, "kind": "dispatch", "label": "", "name": "main 16x1x1", "times": 1,
                "begin_ns": 2500, "end_ns": 3600, "elapsed_ns": 1100, "counters": of(&dispatch, &m),
            },
        ],
        "frames": [{ "device": 0, "queue": 0, "frame": 7, "counters": of(&pass, &m) }],
    })
}

fn told(file: &Value) -> Vec<String> {
    static ALL: std::sync::LazyLock<Vec<Invariant>> = std::sync::LazyLock::new(|| invariants().unwrap());
    judge(file, &ALL).unwrap().told
}

#[test]
fn a_good_file_passes() {
    let report = check(&good().to_string()).unwrap();
    assert_eq!(report.told, [""; 0]);
    assert!(report.summary.starts_with("2 workloads, 1 frames, 1 devices and the total checked: "));
    assert!(report.summary.ends_with(" 0 violated"), "{}", report.summary);
}

/// Each side names counters, the model's figures and what places have, nothing that counts as 0.
#[test]
fn rows_are_made_of_what_the_file_has() {
    let mut names = std::collections::HashSet::new();
    for i in invariants().unwrap() {
        assert!(names.insert(i.name.clone()), "{} twice", i.name);
        for side in [&i.left, &i.right] {
            side.formula.visit(&mut |f| match f {
                Formula::Event(_) | Formula::Unit(..) | Formula::Total(_) => panic!("{}: {f:?}", i.name),
                Formula::Counter(c) => {
                    let reported = catalogue::all().get(*c).is_none_or(|c| c.formula.is_some());
                    assert!(reported, "{}: {f:?}", i.name);
                }
                _ => {}
            });
        }
    }
    let formulas = names.iter().filter(|n| n.starts_with("formula of ")).count();
    assert!(formulas > 113 / 2 && names.len() == formulas + ROWS.len(), "{formulas} of {}", names.len());
}

/// The first counter, or other number, that a formula names.
fn first(f: &Formula) -> Option<usize> {
    let mut found = None;
    f.visit(&mut |f| {
        if let (None, Formula::Counter(i)) = (found, f) {
            found = Some(*i);
        }
    });
    found
}

/// In the dispatch's row, or in the pass's where only passes are spoken of, the left side's first number becomes too large.
#[test]
fn each_invariant_is_told_where_it_is_violated() {
    let good = good();
    for i in invariants().unwrap() {
        let mut file = good.clone();
        let (w, what) = match i.on {
            On::Pass => (0, "0.0 frame: render pass 64x64"),
            _ => (1, "0.1 dispatch main 16x1x1"),
        };
        let at = first(&i.left.formula).unwrap();
        match NAMES.get(at.wrapping_sub(catalogue::all().len())) {
            Some(name) => file["workloads"][w][*name] = json!(1u64 << 50),
            None => file["workloads"][w]["counters"][catalogue::all()[at].machine] = json!(1u64 << 50),
        }
        let told = told(&file);
        let line = format!("{what}, 1 times: {}: ", i.name);
        let lines: Vec<_> = told.iter().filter(|l| l.starts_with(&line)).collect();
        assert_eq!(lines.len(), 1, "{line} {told:?}");
    }
}

#[test]
fn a_line_has_both_values() {
    let mut file = good();
    file["workloads"][0]["counters"]["TuffTilesKilled"] = json!(15);
    let told = told(&file);
    let line = "0.0 frame: render pass 64x64, 1 times: killed tiles are tiles: TuffTilesKilled = 15 is more than MaliFragTile = 14";
    assert!(told.iter().any(|l| l == line), "{told:?}");
    // And what follows from it: its own formula's counter, and the sum.
    assert!(
        told.iter().any(|l| l.contains("formula of MaliFragTileKill: MaliFragTileKill = 12 is not")),
        "{told:?}"
    );
    assert!(told.iter().any(|l| l == "total: sum of workloads: TuffTilesKilled = 3 is not 15"), "{told:?}");
}

#[test]
fn what_a_device_does_takes_its_time() {
    // Both within their own rows' times, but in less than both need.
    let mut file = good();
    file["workloads"][1]["begin_ns"] = json!(1000);
    file["workloads"][1]["end_ns"] = json!(2100);
    let told = told(&file);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with(
        "device 0: GPU active within the time: MaliGPUActiveCy = 4520 is more than elapsed = 39"
    ));
}

#[test]
fn sums_frames_and_numbers_are_looked_at() {
    let mut file = good();
    file["total"]["TuffSamplesPassed"] = json!(1);
    assert_eq!(told(&file), ["total: sum of workloads: TuffSamplesPassed = 1 is not 0"]);
    let mut file = good();
    file["frames"][0]["counters"]["TuffSamplesPassed"] = json!(1);
    assert_eq!(told(&file), ["total: sum of frames: TuffSamplesPassed = 0 is less than 1"]);
    let mut file = good();
    file["frames"][0]["counters"]["MaliTexUtil"] = json!(null);
    let told = self::told(&file);
    assert!(
        told.len() == 1 && told[0].starts_with("0.0 frame 7: formula of MaliTexUtil: MaliTexUtil = NaN"),
        "{told:?}"
    );
}

#[test]
fn another_file_is_an_error() {
    let e = check(r#"{"workloads": []}"#).unwrap_err().to_string();
    assert_eq!(e, "not a file of `tuff run --counters`");
    let mut file = good();
    file["model"] = Value::Null;
    assert!(check(&file.to_string()).unwrap_err().to_string().starts_with("model: "));
}

#[test]
fn a_label_is_no_line_of_its_own() {
    let mut file = good();
    file["workloads"][0]["label"] = json!("a\n\x1b[2Jtuff: 0 violated");
    file["workloads"][0]["counters"]["MaliFragWarp"] = json!(1u64 << 40);
    let told = told(&file);
    assert!(told.iter().any(|l| l.contains("a\\n\\x1b[2Jtuff: 0 violated: ")), "{told:?}");
    assert!(!told.iter().any(|l| l.contains(char::is_control)), "{told:?}");
}

/// A part of a pass that was suspended is no pass.
#[test]
fn parts_are_told() {
    let mut file = good();
    file["workloads"][0]["counters"]["MaliMainQueueJob"] = json!(0);
    let told = told(&file);
    let line = "0.0 frame: render pass 64x64, 1 times: a render pass is drawn as one job: MaliMainQueueJob = 0 is not times = 1";
    assert!(told.iter().any(|l| l == line), "{told:?}");
}

/// The parts of a job's time are a sum, of workloads and of single runs; a run is no longer than all of it.
#[test]
fn waits_add_up() {
    let job = |all: u64, waits: Value| json!([{ "queue": "main", "duration_ns": all, "waits": waits }]);
    let parts = || json!({ "dependencies": 100, "beside": 7, "memory": 900, "front_end": 13 });
    let mut file = good();
    file["workloads"][0]["jobs"] = job(1020, parts());
    file["runs"] = json!([{ "jobs": job(1020, parts()) }]);
    assert_eq!(told(&file), [""; 0]);
    file["workloads"][0]["jobs"] = job(1021, parts());
    let of = told(&file);
    assert!(of.len() == 1 && of[0].contains("sum of waits = 1020 is not duration_ns = 1021"), "{of:?}");
    file["workloads"][0]["jobs"] = json!([]);
    file["runs"][0]["jobs"][0]["begin_ns"] = json!(1000);
    file["runs"][0]["jobs"][0]["end_ns"] = json!(2021);
    assert_eq!(told(&file).len(), 1);
}
