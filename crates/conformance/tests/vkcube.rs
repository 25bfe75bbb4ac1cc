//! Debian's vkcube on Tuff, in a window of a real X server: the last of its frames is the one that lavapipe 25 draws
//! (`pictures/vkcube.png`), and the validation layers say nothing.

use client::drivers::tuff_icd;
use conformance::pictures;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use xserver::{Kept, XServer};

const SIZE: u16 = 300;
/// Each turns the cube by the same angle, whatever the time.
const FRAMES: &str = "60";

/// The last frame of a run of vkcube, as pixels of red, green and blue, and what it said.
fn last_frame(icd: &Path, layers: Option<&str>) -> (Vec<[u8; 3]>, String) {
    let server = XServer::new(24, &[]);
    let mut command = Command::new("vkcube");
    command
        .args([
            "--suppress_popups",
            "--c",
            FRAMES,
            "--width",
            &SIZE.to_string(),
            "--height",
            &SIZE.to_string(),
        ])
        .env("DISPLAY", &server.name)
        .env("VK_ICD_FILENAMES", icd)
        .env("VK_DRIVER_FILES", icd)
        .env("VK_LOADER_LAYERS_DISABLE", "~implicit~")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(layers) = layers {
        command.env("VK_INSTANCE_LAYERS", layers).env("VK_LOADER_DEBUG", "layer");
    }
    let mut child = command.spawn().expect("vkcube (Debian's vulkan-tools) is installed");
    // The window's pixels outlive the window.
    let start = Instant::now();
    let kept = loop {
        match Kept::find(&server, SIZE, SIZE) {
            Some(kept) => break Some(kept),
            None if start.elapsed() > Duration::from_secs(60) => break None,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
        if child.try_wait().expect("it can be asked").is_some() {
            break None;
        }
    };
    let output = child.wait_with_output().expect("it ends");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let kept = kept.unwrap_or_else(|| panic!("no window of vkcube's was seen: {said}"));
    (kept.pixels(SIZE, SIZE).chunks(4).map(|p| [p[2], p[1], p[0]]).collect(), said)
}

#[test]
fn its_last_frame_is_the_right_one() {
    let (frame, _) = last_frame(&tuff_icd(), None);
    // Edges may be covered by another triangle of two that meet, and the texture's filter rounds.
    pictures::assert_close("vkcube", SIZE.into(), &frame, 8, 0.01);
}

#[test]
fn it_runs_clean_under_validation() {
    let (_, said) = last_frame(&tuff_icd(), Some("VK_LAYER_KHRONOS_validation"));
    assert!(
        said.contains("Insert instance layer \"VK_LAYER_KHRONOS_validation\""),
        "the validation layer is not installed"
    );
    let bad: Vec<_> = said
        .lines()
        .filter(|l| ["Validation Error", "Validation Warning", "VUID-"].iter().any(|b| l.contains(b)))
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
