//! Debian's vkcube in a window of a Wayland compositor without a screen (weston): what the compositor shows is what was
//! presented.

use client::drivers::tuff_icd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAMS: [&str; 3] = ["weston", "weston-screenshooter", "vkcube-wayland"];
/// vkcube clears to 0.2 of each colour.
const CLEARED: [u8; 3] = [51; 3];

/// A compositor, its socket's folder, and what ends both.
struct Weston {
    child: Child,
    folder: PathBuf,
}

impl Weston {
    fn new() -> Weston {
        use std::os::unix::fs::DirBuilderExt;
        let folder = client::scratch("wayland").expect("a temporary folder");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::DirBuilder::new().mode(0o700).create(&folder).expect("the temporary folder is writable");
        let child = Command::new("weston")
            .args(["--backend=headless-backend.so", "--use-pixman", "--debug", "--socket=tuff"])
            .args(["--width=640", "--height=600"])
            .env("XDG_RUNTIME_DIR", &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("weston was found");
        let weston = Weston { child, folder };
        let start = Instant::now();
        while !weston.folder.join("tuff").exists() {
            assert!(start.elapsed() < Duration::from_secs(30), "weston has no socket");
            std::thread::sleep(Duration::from_millis(20));
        }
        weston
    }

    fn client(&self, program: &str) -> Command {
        let mut c = Command::new(program);
        c.env("XDG_RUNTIME_DIR", &self.folder).env("WAYLAND_DISPLAY", "tuff").current_dir(&self.folder);
        c
    }

    /// Pixels of the screen that have the colour.
    fn pixels(&self, colour: [u8; 3]) -> usize {
        let shot = self.client("weston-screenshooter").output().expect("weston-screenshooter was found");
        assert!(shot.status.success(), "{}", String::from_utf8_lossy(&shot.stderr));
        let files = std::fs::read_dir(&self.folder).expect("the folder is there");
        let file = files.flatten().map(|f| f.path()).find(|p| p.extension().is_some_and(|e| e == "png"));
        let file = file.expect("a screenshot");
        let n = count(&file, colour);
        std::fs::remove_file(file).expect("it was there");
        n
    }
}

fn count(file: &Path, colour: [u8; 3]) -> usize {
    let file = std::fs::File::open(file).expect("a picture");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG file");
    let bytes_each = reader.info().color_type.samples();
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut bytes).expect("a PNG file's pixels");
    bytes.chunks(bytes_each).filter(|p| p[..3] == colour).count()
}

impl Drop for Weston {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_compositor_shows_what_was_presented() {
    if let Some(p) = PROGRAMS.iter().find(|p| !not_run::has_program(p)) {
        return not_run::say("wayland", &format!("{p} (Debian: weston, vulkan-tools)"));
    }
    let weston = Weston::new();
    let before = weston.pixels(CLEARED);
    let mut cube = weston.client("vkcube-wayland");
    let icd = tuff_icd();
    cube.args(["--c", "400"])
        .env("VK_ICD_FILENAMES", &icd)
        .env("VK_DRIVER_FILES", &icd)
        .env("VK_LOADER_LAYERS_DISABLE", "~implicit~")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = cube.spawn().expect("vkcube-wayland was found");
    // The window has 500 × 500 pixels, of which the cube covers less than two thirds.
    let start = Instant::now();
    let mut most = 0;
    while child.try_wait().expect("it can be asked").is_none() {
        most = most.max(weston.pixels(CLEARED));
        if most >= before + 500 * 500 / 3 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{most} pixels, {before} before");
    }
    let out = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(most >= before + 500 * 500 / 3, "{most} pixels, {before} before: {said}");
}
