//! Presented frames as files (`TUFF_FRAMES`).

use super::pixels::{Picture, PixelLayout};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Four bytes a pixel: blue, green, red and one that means nothing.
const PIXEL: PixelLayout =
    PixelLayout { bytes: 4, masks: [0xFF_0000, 0xFF00, 0xFF], depth: 24, big_endian: false };

/// Writes the frame, if it is among those that are wanted: a PPM file that is called by the number of the frame in this process, from 1.
/// `picture`: its pixels, which only wanted frames need.
pub(crate) fn keep(picture: impl FnOnce() -> Option<Picture>) {
    gpu::debugged::presented();
    let settings = settings::get();
    let Some(folder) = &settings.frames else { return };
    static FRAMES: AtomicU64 = AtomicU64::new(0);
    let number = FRAMES.fetch_add(1, Relaxed) + 1;
    let numbers = &settings.frame_numbers;
    if !numbers.is_empty() && !numbers.iter().any(|range| range.contains(&number)) {
        return;
    }
    let Some(picture) = picture() else { return };
    let folder = gpu::process::place(folder);
    let path = folder.join(format!("{number:06}.ppm"));
    let written = files::within_limits(|| {
        std::fs::create_dir_all(&folder)?;
        write(&picture, &path)
    });
    if let Err(e) = written {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_FRAMES={}: {e}", plain::path(&path));
    }
}

fn write(picture: &Picture, path: &Path) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    write!(file, "P6\n{} {}\n255\n", picture.width, picture.height)?;
    let mut row = vec![0; picture.width as usize * 4];
    for y in 0..picture.height as usize {
        picture.convert(y..y + 1, &PIXEL, &mut row, usize::MAX);
        let rgb: Vec<u8> = row.as_chunks::<4>().0.iter().flat_map(|p| [p[2], p[1], p[0]]).collect();
        file.write_all(&rgb)?;
    }
    file.flush()
}
