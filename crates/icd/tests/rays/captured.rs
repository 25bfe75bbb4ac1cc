//! What a capture says of structures, worked out by hand.

use super::pipelines::{Launch, RECORDS};
use super::scene::*;
use crate::generated::command;
use ash::vk;
use serde_json::{Value, json};
use std::process::Command;

const CHILD: &str = "TUFF_TEST_CAPTURED";
/// Rays of the launch.
const LAUNCHED: u64 = 1024;
const NAME: &str = "rays::captured::a_capture_knows_its_structures";

/// Two boxes of 1 × 1 × 1 that are apart, then equal; sixteen rays of queries, then five, then 1024 of a pipeline.
fn program() {
    let rig = Rig::of(crate::common::instance(&[ash::ext::debug_utils::NAME]));
    let unit = rig.cube([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe {
        let name: vk::PFN_vkSetDebugUtilsObjectNameEXT = command(&rig.gpu, c"vkSetDebugUtilsObjectNameEXT");
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(unit.handle).object_name(c"unit");
        assert_eq!(name(rig.gpu.device.handle(), &info), vk::Result::SUCCESS);
    }
    let at = rig.address(&unit);
    let moved = |x: f32| [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let all = |x: f32| [of(IDENTITY, 0, 0xFF, 0, at), of(moved(x), 0, 0xFF, 0, at)];
    let top = rig.top(Flags::ALLOW_UPDATE, &all(2.0));
    let rays = |n| vec![Ray::new([0.5, 0.5, 5.0], [0.0, 0.0, -1.0]); n];
    rig.query(rig.address(&top), &rays(16)).expect("they run");
    let data = rig.with(all(0.0).as_flattened());
    let geometry = [instances(data.address)];
    rig.build_into(Type::TOP_LEVEL, Flags::ALLOW_UPDATE, &geometry, &[2], Some(&top), &top)
        .expect("an update");
    rig.query(rig.address(&top), &rays(5)).expect("they run");
    let missing = super::pipelines::MISSING;
    rig.trace(
        &rig.tracer(2, &RECORDS),
        Launch::Direct,
        rig.address(&top),
        &vec![missing; LAUNCHED as usize],
        64,
    )
    .expect("they run");
    super::copies::copied(&rig, &unit, unit.size, vk::CopyAccelerationStructureModeKHR::COMPACT);
}

#[test]
fn a_capture_knows_its_structures() {
    if std::env::var_os(CHILD).is_some() {
        return program();
    }
    let folder = temporary::folder("captured-").expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", NAME, "--test-threads=1"]).env(CHILD, "1").env("TUFF_CAPTURE", folder.path());
    let out = child.output().expect("it runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = std::fs::read(folder.path().join("capture.json")).expect("a capture");
    let capture: Value = serde_json::from_slice(&text).expect("JSON");
    let all = capture["structures"].as_array().expect("a list");
    let [unit, top, compact] = &all[..] else { panic!("{all:?}") };
    let is = |s: &Value, key: &str, want: Value| assert_eq!(s[key], want, "{key} of {s}");
    for (s, kind, primitives) in [(unit, "boxes", 1), (top, "instances", 2), (compact, "boxes", 1)] {
        is(s, "kind", json!(kind));
        is(s, "primitives", json!(primitives));
        is(s, "active", json!(primitives));
        // One node with a leaf for each instance, or one for up to four boxes.
        is(s, "nodes", json!(1));
        is(s, "leaves", json!(if kind == "boxes" { 1 } else { 2 }));
        is(s, "depth", json!(1));
        is(s, "node_cost", json!(1.0));
    }
    is(unit, "name", json!("unit"));
    is(unit, "flags", json!(["ALLOW_COMPACTION"]));
    // A header of 256 bytes, a geometry in 128, a node of 128, and a leaf of 192; instances are leaves of 128.
    is(unit, "bytes", json!(256 + 128 + 128 + 192));
    is(top, "bytes", json!(256 + 128 + 2 * 128));
    is(top, "flags", json!(["ALLOW_UPDATE"]));
    let done = |s: &Value, want: [u64; 4]| {
        let of = ["builds", "updates", "clones", "compactions"].map(|key| s[key].as_u64().expect("a number"));
        assert_eq!(of, want, "{s}");
    };
    done(unit, [1, 0, 0, 0]);
    done(top, [1, 1, 0, 0]);
    done(compact, [0, 0, 0, 1]);
    is(compact, "from", json!(0));
    is(top, "instances", json!([[0, 2]]));
    // As it was updated: two leaves of the root's surface, 3 each, which have 3 in common. Nodes' boxes are rounded outward.
    let near = |key: &str, want: f64| {
        let told = top[key].as_f64().expect("a number");
        assert!((told - want).abs() <= 0.02 * want, "{key}: {told}");
    };
    near("leaf_cost", 2.0);
    near("overlap", 0.5);
    // The dispatches, by their places among runs, and their rays.
    let runs = capture["runs"].as_array().expect("a list");
    let workloads = &capture["workloads"];
    let kind = |r: &Value| workloads[r["workload"].as_u64().unwrap() as usize]["kind"].clone();
    let dispatches = runs.iter().filter(|r| kind(r) == "dispatch");
    // A launch reads its list of rays from memory, 48 bytes each, before the trace and after it; each ray writes 64 bytes.
    let launch = runs.iter().find(|r| kind(r) == "trace rays").expect("a launch");
    let bytes = |name: &str| launch["counters"][name].as_u64().unwrap_or(0);
    assert_eq!(launch["counters"]["MaliRTURay"], LAUNCHED);
    let [read, written] = [bytes("MaliExtBusRdBy"), bytes("MaliExtBusWrBy")];
    assert!((48 * LAUNCHED..3 * 48 * LAUNCHED).contains(&read), "{read} bytes read");
    assert!((64 * LAUNCHED..2 * 64 * LAUNCHED).contains(&written), "{written} bytes written");
    let [first, second] = dispatches.collect::<Vec<_>>()[..] else { panic!("{runs:?}") };
    is(top, "traces", json!([[first["order"], 16], [second["order"], 5], [launch["order"], LAUNCHED]]));
    for (run, rays) in [(first, 16), (second, 5)] {
        assert_eq!(run["counters"]["MaliRTURay"], rays);
    }
    is(unit, "traces", json!([]));
}
