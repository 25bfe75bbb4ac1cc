//! Counters by VK_KHR_performance_query: those of the channel, workload by workload, and what must not be counted.

use super::run::{CHILD, Run, tuff};
use super::{PENDING_AGAIN, text};
use client::drivers::{LAYER, find};
use counters::catalogue;
use serde_json::{Map, Value};

type Settings<'a> = &'a [(&'a str, &'a str)];

fn rows(program: &str, settings: Settings, variables: Settings) -> Vec<Value> {
    let driver = tuff();
    let mut run = Run { settings, variables, ..Run::new(&driver, program) };
    // Of simultaneous use, about which the validation layers are wrong (`queries` of the layer).
    if PENDING_AGAIN.contains(&program) || program == "secondaries" {
        run.layers = vec![LAYER];
    }
    run.rows().unwrap_or_else(|| panic!("{program} runs on Tuff"))
}

fn counters(r: &Value) -> Option<&Map<String, Value>> {
    r["counters"].as_object()
}

/// The channel has a counter by its machine name, the query by its human one.
fn same(channel: &Value, query: &Value, program: &str) -> usize {
    let (c, q) = (counters(channel).unwrap(), counters(query).unwrap());
    for (name, value) in q {
        let machine = catalogue::by_human(name).unwrap_or_else(|| panic!("{name}")).machine;
        assert_eq!(&c[machine], value, "{program}: {name} of {}", text(query, "name"));
    }
    q.len()
}

fn is_not_counted(r: &Value, why: &str) -> bool {
    counters(r).is_none() && text(r, "note").starts_with(&format!("not counted: {why}"))
}

/// Of every program: how many of its workloads have counters, and why the others have none. What does nothing has none
/// by any way.
const PROGRAMS: [(&str, usize, &str); 14] = [
    ("diagram", 4, ""),
    ("passes", 6, ""),
    ("multiview", 3, ""),
    ("suspended", 3, "a suspended pass"),
    ("labelled", 2, "a suspended pass"),
    ("transfers", 15, ""),
    ("resubmitted", 10, ""),
    ("simultaneous", 6, ""),
    ("secondaries", 2, "a secondary command buffer"),
    ("once", 4, "a secondary command buffer"),
    ("pools", 800, ""),
    ("threads", 360, ""),
    ("labels", 4, ""),
    ("both queues", 8, ""),
];

#[test]
fn queries_have_what_the_channel_has() {
    for (program, counted, why) in PROGRAMS {
        for serialise in ["1", "0"] {
            let with = |source| {
                rows(program, &[("mode", "counters"), ("source", source), ("serialise", serialise)], &[])
            };
            let (channel, query) = (with("channel"), with("query"));
            assert_eq!(channel.len(), query.len(), "{program}");
            let mut n = 0;
            for (c, q) in channel.iter().zip(&query) {
                assert_eq!(text(c, "name"), text(q, "name"), "{program}");
                if counters(q).is_some() {
                    n += 1;
                    assert_eq!(same(c, q, program), catalogue::reported().len());
                } else if counters(c).is_some() {
                    assert!(!why.is_empty() && is_not_counted(q, why), "{program}: {q}");
                }
            }
            assert_eq!(n, counted, "{program}, serialise={serialise}");
        }
    }
}

/// The model "small" counts eight at a time.
#[test]
fn what_needs_another_pass_is_left_out_and_told() {
    let small = [("TUFF_GPU", "small")];
    let settings = [("mode", "counters"), ("source", "query")];
    let driver = tuff();
    let run = Run { settings: &settings, variables: &small, ..Run::new(&driver, "diagram") };
    let output = run.output(CHILD).unwrap();
    let left_out = output.lines().find(|l| l.contains("left out")).unwrap_or_else(|| panic!("{output}"));
    let query = run.rows().unwrap();
    let channel = rows("diagram", &[("mode", "counters"), ("source", "channel")], &small);
    for (c, q) in channel.iter().zip(&query) {
        assert_eq!(same(c, q, "diagram"), 8);
        let left = left_out.split(": ").last().unwrap().split(", ").count();
        assert_eq!(left + 8, catalogue::reported().len(), "{left_out}");
    }
    // Others are counted where they are chosen.
    let chosen = "Fragment warps,Fragment threads,Nothing of that name";
    let settings = [("mode", "counters"), ("source", "query"), ("counters", chosen)];
    let run = Run { settings: &settings, variables: &small, ..Run::new(&driver, "diagram") };
    assert!(run.output(CHILD).unwrap().contains("there is no Nothing of that name"));
    for r in run.rows().unwrap() {
        let names: Vec<_> = counters(&r).unwrap().keys().cloned().collect();
        assert_eq!(names, ["Fragment threads", "Fragment warps"]);
    }
}

/// Interfaces as drivers of hardware have them (`TUFF_INTERFACES`).
#[test]
fn queries_of_hardware_are_read_as_they_are() {
    let settings = [("mode", "counters"), ("source", "query")];
    let channel = rows("diagram", &[("mode", "counters"), ("source", "channel")], &[]);
    let all = catalogue::reported().len();
    for (interfaces, kept) in [
        ("passes=4", all.div_ceil(4)),
        ("storage=uint32", all),
        ("storage=int64", all),
        ("storage=float32", all),
        ("storage=float64", all),
    ] {
        let found = rows("diagram", &settings, &[("TUFF_INTERFACES", interfaces)]);
        assert_eq!(found.len(), channel.len());
        for (c, q) in channel.iter().zip(&found) {
            let (c, q) = (counters(c).unwrap(), counters(q).unwrap());
            assert_eq!(q.len(), kept, "{interfaces}");
            for (name, value) in q {
                let counter = catalogue::by_human(name).unwrap();
                let (want, got) = (c[counter.machine].as_f64().unwrap(), value.as_f64().unwrap());
                // Integers lose fractions, floats of 32 bits what is after 24 bits.
                let off = if interfaces.ends_with("float32") { want * 1e-7 } else { want.fract() };
                assert!((want - got).abs() <= off, "{interfaces}: {name} is {got}, not {want}");
            }
        }
    }
    let driver = tuff();
    let busy = [("TUFF_INTERFACES", "lock=busy")];
    let run = Run { settings: &settings, variables: &busy, ..Run::new(&driver, "diagram") };
    let output = run.output(CHILD).unwrap();
    assert!(
        output.contains("the profiling lock is not to be had: vkAcquireProfilingLockKHR: TIMEOUT"),
        "{output}"
    );
}

#[test]
fn a_programs_own_queries_come_first() {
    let driver = tuff();
    let value = |layered: bool, settings| {
        let mut run = Run { settings, ..Run::new(&driver, "own queries") };
        run.layers.retain(|l| layered || *l != LAYER);
        let output = run.output(CHILD).unwrap();
        let at = output.find("its own query: ").unwrap_or_else(|| panic!("{output}"));
        output[at..].lines().next().unwrap().to_string()
    };
    let settings: Settings = &[("mode", "counters"), ("source", "query")];
    assert_eq!(value(false, &[]), value(true, settings));
    let rows = rows("own queries", settings, &[]);
    let own = "the program has performance queries of its own";
    let found: Vec<_> = rows.iter().map(|r| (counters(r).is_some(), is_not_counted(r, own))).collect();
    assert_eq!(found, [(true, false), (false, true), (true, false)], "{rows:?}");
}

#[test]
fn pools_of_performance_queries_are_given_back() {
    let driver = tuff();
    let settings = [("mode", "counters"), ("source", "query")];
    let json = Run { settings: &settings, ..Run::new(&driver, "pools") }.json(CHILD).unwrap();
    assert_eq!(json["workloads"].as_array().unwrap().len(), 20 * 40);
    // 80 timestamps need two pools of 64, 40 workloads five of eight.
    let device = &json["devices"][0];
    assert_eq!(device["query_pools"].as_u64(), Some(7), "{device}");
    assert_eq!(device["query_pools_free"].as_u64(), Some(7), "{device}");
}

#[test]
fn frames_that_are_not_chosen_disturb_nothing() {
    let settings = [("mode", "counters"), ("source", "query"), ("frames", "7")];
    assert_eq!(rows("resubmitted", &settings, &[]).len(), 0);
}

#[test]
fn a_driver_without_performance_queries_is_measured_in_time_alone() {
    let Some(driver) = find("lavapipe") else {
        return not_run::say("layer: a driver without performance queries", "lavapipe (not installed)");
    };
    for source in ["query", "any"] {
        let settings = [("mode", "counters"), ("source", source)];
        let output = Run { settings: &settings, ..Run::new(&driver, "resubmitted") }.output(CHILD).unwrap();
        assert!(output.contains("the driver has no VK_KHR_performance_query"), "{output}");
        assert!(output.contains("time alone is measured"), "{output}");
        assert!(output.contains("vkCmdDispatch 200x1x1"), "{output}");
    }
}

/// Where there is a channel nothing else is taken, unless it is asked for.
#[test]
fn the_channel_comes_first() {
    let rows = rows("diagram", &[("mode", "counters")], &[]);
    assert!(counters(&rows[0]).unwrap().contains_key("MaliFragWarp"), "{}", rows[0]);
}
