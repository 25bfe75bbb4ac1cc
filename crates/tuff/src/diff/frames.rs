//! Means by frame, so that a run of more frames is no dearer than one of fewer; and the worst frame.

use super::file::{Counters, ELAPSED, File, Workload};
use counters::{Block, catalogue};
use std::collections::BTreeMap;

/// A frame of all queues of a device.
pub struct Frame {
    pub number: u64,
    pub counters: Counters,
}

/// Its values add up: no ratio of others.
fn adds_up(name: &str) -> bool {
    name == ELAPSED
        || name == "times"
        || catalogue::by_machine(name).is_none_or(|c| c.block != Block::Derived && c.unit != "percent")
}

fn divided(c: &mut Counters, by: f64) {
    c.iter_mut().filter(|(name, _)| adds_up(name)).for_each(|(_, v)| *v /= by);
}

/// Frames of all queues; each number of a device once.
fn frames(file: &File) -> Vec<Frame> {
    let mut all: BTreeMap<(u64, u64), Counters> = BTreeMap::new();
    for (device, frame, counters) in &file.frames {
        let sum = all.entry((*device, *frame)).or_default();
        counters
            .iter()
            .filter(|(k, _)| adds_up(k))
            .for_each(|(k, v)| *sum.entry(k.clone()).or_default() += v);
    }
    all.into_iter().map(|((_, number), counters)| Frame { number, counters }).collect()
}

/// Makes the file's sums means by frame; how many frames there were, and the one in which the GPU was active longest.
///
/// # Errors
/// It has no frames.
pub fn means(file: &mut File) -> Result<(f64, Frame), String> {
    let all = frames(file);
    let n = all.len() as f64;
    let active = |f: &Frame| f.counters.get("MaliGPUActiveCy").copied().unwrap_or(0.0);
    let worst = all.into_iter().fold(None::<Frame>, |worst, f| match worst {
        Some(w) if active(&w) >= active(&f) => Some(w),
        _ => Some(f),
    });
    let worst = worst.ok_or("it has no frames: nothing was presented, and no frame boundary was given")?;
    divided(&mut file.total, n);
    let each = |w: &mut Workload| divided(&mut w.counters, n);
    file.workloads.values_mut().for_each(each);
    Ok((n, worst))
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;
    use serde_json::json;

    /// Three frames, of which one is on two queues: 300 cycles and 60 FMA in all, 100 and 20 a frame; the worst has 170 cycles.
    #[test]
    fn sums_become_means_and_the_worst_frame_is_told() {
        let frame = |queue: u64, number: u64, cycles: u64| json!({ "device": 0, "queue": queue, "frame": number, "counters": { "MaliGPUActiveCy": cycles, "MaliFragFPKBUtil": 50 } });
        let workload = json!({ "kind": "dispatch", "label": "", "name": "a", "times": 6, "elapsed_ns": 30, "counters": { "TuffFmaInstr": 60 } });
        let v = json!({
            "gpu": "x", "total": { "MaliGPUActiveCy": 300, "TuffFmaInstr": 60, "MaliFragFPKBUtil": 50 }, "workloads": [workload],
            "frames": [frame(0, 4, 80), frame(1, 5, 50), frame(0, 5, 120), frame(0, 6, 50)],
        });
        let mut file = parse(&v.to_string()).unwrap();
        let (n, worst) = means(&mut file).unwrap();
        assert_eq!((n, worst.number, worst.counters["MaliGPUActiveCy"]), (3.0, 5, 170.0));
        // A ratio of frames is none of their sum.
        assert!(!worst.counters.contains_key("MaliFragFPKBUtil"));
        let of = |c: &Counters| {
            ["MaliGPUActiveCy", "TuffFmaInstr", "MaliFragFPKBUtil", ELAPSED].map(|k| c.get(k).copied())
        };
        assert_eq!(of(&file.total), [Some(100.0), Some(20.0), Some(50.0), Some(10.0)]);
        let w = file.workloads.values().next().unwrap();
        assert_eq!([w.counters["TuffFmaInstr"], w.counters["times"]], [20.0, 2.0]);
        let mut none = parse(&json!({ "gpu": "x", "total": {}, "workloads": [] }).to_string()).unwrap();
        assert!(means(&mut none).is_err());
    }
}
