//! Every scene on Tuff: right by a reference that is not Tuff, and the bits of one golden hash a scene on every SIMD level
//! and thread count. `CONFORMANCE_BLESS=1` writes `goldens.txt` anew, from scenes that pass their checks.

use crate::common::Way;
use conformance::scenes::{Expect, Output, decode_png, reference::render, scenes};
use std::collections::BTreeMap;

const GOLDENS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/goldens.txt");

fn goldens() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(GOLDENS).unwrap_or_else(|e| panic!("{GOLDENS}: {e}"));
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines.filter_map(|l| l.split_once(' ')).map(|(n, h)| (n.into(), h.into())).collect()
}

fn bless(hashes: &BTreeMap<String, String>) {
    let head = "# One hash a scene: the same bits on every SIMD level and thread count. Written by CONFORMANCE_BLESS=1.\n";
    let lines: String = hashes.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
    std::fs::write(GOLDENS, head.to_string() + &lines).unwrap();
}

#[test]
fn right_pictures_and_one_golden_on_every_level_and_thread_count() {
    let scenes = conformance::scenes::scenes();
    let names: Vec<_> = scenes.iter().map(|s| s.name).collect();
    let run = |way| crate::common::run(env!("CARGO_BIN_EXE_scene-child"), &names, way, false);
    if std::env::var_os("CONFORMANCE_BLESS").is_some() {
        bless(&run(Way::new("portable", 1)).unwrap_or_else(|e| panic!("{e}")));
    }
    let goldens = goldens();
    let listed: Vec<_> = goldens.keys().map(String::as_str).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(listed, sorted, "a golden for every scene, and no other");
    crate::common::same_everywhere(Some(&goldens), &[1, 2], run);
}

/// Random scenes, and wild ones: as many as `CONFORMANCE_RANDOM` says.
#[test]
fn random_pictures_are_right_and_the_same_everywhere() {
    let count = std::env::var("CONFORMANCE_RANDOM").map_or(40, |n| n.parse().expect("a number"));
    let names: Vec<String> = (0..count).flat_map(|n| [format!("random:{n}"), format!("wild:{n}")]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = |way| crate::common::run(env!("CARGO_BIN_EXE_scene-child"), &names, way, false);
    crate::common::same_everywhere(None, &[1, 2], run);
}

/// Output of the reference as if it were drawn: scenes must pass their own check and fail it when blank.
#[test]
fn checks_accept_the_reference_and_refuse_a_blank_picture() {
    for scene in scenes() {
        let blank = Output {
            pixels: vec![[1, 2, 3, 4]; (scene.size[0] * scene.size[1] * scene.views) as usize],
            passed: vec![0; scene.draws.len()],
        };
        assert!(scene.check(&blank).is_err(), "{}", scene.name);
        if let Expect::Reference { .. } = scene.expect {
            let picture = render(&scene);
            let pixels = picture.pixels.iter().map(|p| p.map(|v| v.round() as u8)).collect();
            assert_eq!(scene.check(&Output { pixels, passed: picture.passed }), Ok(()), "{}", scene.name);
        }
    }
}

/// The tolerance is narrower than what anisotropy changes.
#[test]
fn one_plain_is_not_the_other() {
    const PLAIN: &[u8] = include_bytes!("../pictures/plain.png");
    const PLAIN_ANISOTROPIC: &[u8] = include_bytes!("../pictures/plain_anisotropic.png");
    let list = scenes();
    for (name, good, bad) in
        [("plain", PLAIN, PLAIN_ANISOTROPIC), ("plain_anisotropic", PLAIN_ANISOTROPIC, PLAIN)]
    {
        let scene = list.iter().find(|s| s.name == name).expect("listed");
        let output = |png| Output { pixels: decode_png(png).expect("a picture"), passed: vec![0] };
        assert_eq!(scene.check(&output(good)), Ok(()));
        assert!(scene.check(&output(bad)).is_err());
    }
}
