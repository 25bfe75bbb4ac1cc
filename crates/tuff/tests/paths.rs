//! The demo's path-traced city: the same picture and counters on every thread count and SIMD level, and rays that the
//! counters know too.

use serde_json::{Value, json};
use std::process::Command;

const TUFF: &str = env!("CARGO_BIN_EXE_tuff");
const SIZE: [u64; 2] = [64, 36];
const SAMPLES: u64 = 2;

/// The picture's bytes, the rays by bounce, and what was counted.
fn traced(threads: &str, simd: &str) -> (Vec<u8>, Vec<[u64; 2]>, Value) {
    let folder = temporary::folder("tuff-").unwrap();
    let [rgba, counters, said] = ["rgba", "counters.json", "said"].map(|f| folder.path().join(f));
    let ask = json!({ "Own": { "Paths": { "size": SIZE, "rgba": rgba } } });
    let script = format!("printf '%s\\n' '{ask}' | '{TUFF}' child > '{}'", said.display());
    let done = Command::new(TUFF)
        .args(["run", "--counters", counters.to_str().unwrap(), "--", "sh", "-c", &script])
        .env("TUFF_THREADS", threads)
        .env("TUFF_SIMD", simd)
        .env("TUFF_CONFORMANCE", "1.4.0.0")
        .output()
        .unwrap();
    let said = std::fs::read_to_string(said).unwrap_or_default();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    let answer: Value = serde_json::from_str(&said).unwrap();
    let rays = &answer["Own"]["Traced"]["rays"];
    let rays = serde_json::from_value(rays.clone()).unwrap_or_else(|e| panic!("{e}: {said}"));
    let counters: Value = serde_json::from_slice(&std::fs::read(counters).unwrap()).unwrap();
    (std::fs::read(rgba).unwrap(), rays, counters["workloads"].clone())
}

#[test]
fn the_city_has_the_same_paths_on_every_level_and_thread_count() {
    let (picture, rays, workloads) = traced("1", "portable");
    let mut others = vec![("2", "portable")];
    #[cfg(target_arch = "x86_64")]
    let avx2 = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let avx2 = false;
    if avx2 {
        others.push(("2", "avx2"));
    } else {
        not_run::say("paths with TUFF_SIMD=avx2", "AVX2");
    }
    for (threads, simd) in others {
        let other = traced(threads, simd);
        assert!(other.0 == picture, "another picture with {threads} threads and {simd}");
        assert_eq!(other.1, rays, "{threads} threads, {simd}");
        assert!(other.2 == workloads, "other counters with {threads} threads and {simd}");
    }

    // Each path begins at the camera, and only those that hit something go on.
    assert_eq!(rays[0][0], SIZE[0] * SIZE[1] * SAMPLES);
    for (before, after) in rays.iter().zip(&rays[1..]) {
        assert!(after[0] < before[0] && after[0] > 0, "{rays:?}");
        assert!(before[1] <= before[0], "{rays:?}");
    }
    // What the shader counts is what the ray tracing unit has traversed.
    let labels = ["from the camera", "bounce 1", "bounce 2", "bounce 3"];
    assert_eq!(rays.len(), labels.len());
    for (label, [paths, sun]) in labels.into_iter().zip(&rays) {
        let of = |w: &&Value| w["label"].as_str().is_some_and(|l| l.contains(label));
        let workload = workloads.as_array().unwrap().iter().find(of).unwrap_or_else(|| panic!("no {label}"));
        assert_eq!(workload["counters"]["MaliRTURay"].as_u64(), Some(paths + sun), "{label}");
    }

    // The sky above is blue, and light reaches everything.
    let pixels: Vec<&[u8]> = picture.chunks_exact(4).collect();
    assert_eq!(pixels.len() as u64, SIZE[0] * SIZE[1]);
    assert!(pixels[..SIZE[0] as usize].iter().all(|p| p[2] > p[0] && p[2] > 100), "{:?}", pixels[0]);
    assert!(pixels.iter().all(|p| p[..3].iter().any(|c| *c > 8) && p[3] == 255));
}
