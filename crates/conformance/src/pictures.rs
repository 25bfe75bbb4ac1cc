//! Golden pictures: PNG files in `pictures/`, made by a peer or checked by eye.

use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("pictures").join(format!("{name}.png"))
}

/// A picture as rows of red, green and blue, and its width.
fn read(name: &str) -> (usize, Vec<[u8; 3]>) {
    let file = std::fs::File::open(path(name)).unwrap_or_else(|e| panic!("{}: {e}", path(name).display()));
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG file's header");
    let info = reader.info();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    let (width, height) = (info.width as usize, info.height as usize);
    let mut bytes = vec![0; width * height * 3];
    reader.next_frame(&mut bytes).expect("a PNG file's pixels");
    (width, bytes.as_chunks::<3>().0.to_vec())
}

/// Writes a picture where it can be looked at.
fn write(path: &PathBuf, width: usize, pixels: &[[u8; 3]]) {
    let file = std::fs::File::create(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut encoder = png::Encoder::new(file, width as u32, (pixels.len() / width) as u32);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("a PNG file's header");
    writer.write_image_data(pixels.as_flattened()).expect("a PNG file's pixels");
}

/// Compares with the golden picture: at most `share` of the pixels differ by more than `levels` in any channel. On a
/// failure the picture lies beside the tests' programs. `TUFF_BLESS=1` makes it the golden one.
pub fn assert_close(name: &str, width: usize, pixels: &[[u8; 3]], levels: u8, share: f64) {
    if std::env::var_os("TUFF_BLESS").is_some() {
        return write(&path(name), width, pixels);
    }
    let (golden_width, golden) = read(name);
    assert_eq!((golden_width, golden.len()), (width, pixels.len()), "{name}: the size");
    let far = |(a, b): (&[u8; 3], &[u8; 3])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > levels);
    let differ = golden.iter().zip(pixels).filter(|p| far(*p)).count();
    if differ as f64 > share * golden.len() as f64 {
        let seen = std::env::current_exe().expect("a test has a path").with_file_name(format!("{name}.png"));
        write(&seen, width, pixels);
        panic!("{name}: {differ} of {} pixels differ; see {}", golden.len(), seen.display());
    }
}
