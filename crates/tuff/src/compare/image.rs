//! Pictures of 8 bits a channel, and how far two are apart.

use client::{Error, Result};
use std::path::Path;

/// Bytes of a picture's file that are read: 16384 × 16384 pixels.
const MOST: u64 = 1 << 30;

/// Red, green, blue and alpha of each pixel, by rows from the top.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<[u8; 4]>,
}

/// How two pictures of one size differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Pixels that differ at all.
    pub differing: u64,
    /// Pixels of which a channel differs by more than the tolerance.
    pub beyond: u64,
    pub pixels: u64,
    /// The most that a channel differs by.
    pub most: u8,
}

impl Difference {
    /// Pixels beyond the tolerance, of a hundred.
    pub fn percent(&self) -> f64 {
        self.beyond as f64 * 100.0 / self.pixels.max(1) as f64
    }
}

impl Image {
    /// A PNG file, or a PPM file of 8 bits (`P6`).
    pub fn read(path: &Path) -> Result<Image> {
        let say = |e: String| Error::file(path, e);
        let metadata = std::fs::metadata(path).map_err(|e| say(e.to_string()))?;
        if metadata.len() > MOST {
            return Err(say(format!("more than {MOST} bytes")));
        }
        let bytes = std::fs::read(path).map_err(|e| say(e.to_string()))?;
        let image = if bytes.starts_with(b"P6") { ppm(&bytes) } else { png(&bytes) };
        image.map_err(say)
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let rgba = self.rgba.as_flattened().to_vec();
        let picture =
            crate::picture::Picture { width: self.width as usize, height: self.height as usize, rgba };
        picture.write_png(path).map_err(Error)
    }

    /// How this differs from a picture of the same size, and where: pixels beyond the tolerance red, others that differ yellow, on the
    /// faded picture. `None`: the sizes differ.
    pub fn against(&self, golden: &Image, tolerance: u8) -> Option<(Difference, Image)> {
        if (self.width, self.height) != (golden.width, golden.height) {
            return None;
        }
        let mut sum = Difference { differing: 0, beyond: 0, pixels: self.rgba.len() as u64, most: 0 };
        let mut shown = Vec::with_capacity(self.rgba.len());
        for (a, b) in self.rgba.iter().zip(&golden.rgba) {
            let most = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
            sum.most = sum.most.max(most);
            sum.differing += u64::from(most > 0);
            sum.beyond += u64::from(most > tolerance);
            let grey = a[..3].iter().map(|c| u32::from(*c)).sum::<u32>() / 12;
            let faded = 191 + grey as u8;
            shown.push(match most {
                0 => [faded, faded, faded, 255],
                m if m > tolerance => [214, 0, 28, 255],
                _ => [235, 190, 0, 255],
            });
        }
        Some((sum, Image { width: self.width, height: self.height, rgba: shown }))
    }

    /// At most so many pixels wide and high, for a page: each is one of the picture's.
    pub fn thumbnail(&self, most: u32) -> Image {
        let by = self.width.max(self.height).div_ceil(most).max(1);
        let (width, height) = (self.width.div_ceil(by), self.height.div_ceil(by));
        let at = |x: u32, y: u32| self.rgba[(y * by * self.width + x * by) as usize];
        let rgba = (0..height).flat_map(|y| (0..width).map(move |x| at(x, y))).collect();
        Image { width, height, rgba }
    }
}

fn ppm(bytes: &[u8]) -> std::result::Result<Image, String> {
    let mut at = 2;
    let mut number = || {
        let start = at + bytes[at..].iter().position(|b| !b.is_ascii_whitespace())?;
        let end = start + bytes[start..].iter().position(u8::is_ascii_whitespace)?;
        at = end;
        std::str::from_utf8(&bytes[start..end]).ok()?.parse::<u32>().ok()
    };
    let (Some(width), Some(height), Some(255)) = (number(), number(), number()) else {
        return Err("not a PPM file of 8 bits a channel".into());
    };
    let pixels = bytes.get(at + 1..).unwrap_or_default();
    let size = u128::from(width) * u128::from(height) * 3;
    if pixels.len() as u128 != size || pixels.is_empty() {
        return Err(format!("{} bytes of pixels are not {width} x {height}", pixels.len()));
    }
    let rgba = pixels.as_chunks::<3>().0.iter().map(|p| [p[0], p[1], p[2], 255]).collect();
    Ok(Image { width, height, rgba })
}

fn png(bytes: &[u8]) -> std::result::Result<Image, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    // Palettes and fewer bits become 8 bits a channel, 16 bits too.
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let size = reader.output_buffer_size().filter(|n| *n as u64 <= MOST).ok_or("too large a picture")?;
    let mut data = vec![0; size];
    let info = reader.next_frame(&mut data).map_err(|e| e.to_string())?;
    let data = &data[..info.buffer_size()];
    let rgba: Vec<[u8; 4]> = match info.color_type {
        png::ColorType::Grayscale => data.iter().map(|g| [*g, *g, *g, 255]).collect(),
        png::ColorType::GrayscaleAlpha => {
            data.as_chunks::<2>().0.iter().map(|p| [p[0], p[0], p[0], p[1]]).collect()
        }
        png::ColorType::Rgb => data.as_chunks::<3>().0.iter().map(|p| [p[0], p[1], p[2], 255]).collect(),
        png::ColorType::Rgba => data.as_chunks::<4>().0.to_vec(),
        png::ColorType::Indexed => return Err("a palette".into()),
    };
    Ok(Image { width: info.width, height: info.height, rgba })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(pixels: &[[u8; 4]]) -> Image {
        Image { width: pixels.len() as u32, height: 1, rgba: pixels.to_vec() }
    }

    #[test]
    fn pixels_are_counted_by_their_worst_channel() {
        let a = image(&[[0, 0, 0, 255], [10, 0, 0, 255], [0, 0, 9, 255], [0, 0, 0, 250]]);
        let b = image(&[[0, 0, 0, 255], [12, 0, 1, 255], [0, 0, 6, 255], [0, 0, 0, 255]]);
        let of = |tolerance| a.against(&b, tolerance).unwrap().0;
        assert_eq!(of(0), Difference { differing: 3, beyond: 3, pixels: 4, most: 5 });
        assert_eq!((of(2).beyond, of(3).beyond, of(5).beyond, of(2).percent()), (2, 1, 0, 50.0));
        let shown = a.against(&b, 2).unwrap().1;
        assert_eq!(shown.rgba[1..3], [[235, 190, 0, 255], [214, 0, 28, 255]]);
        assert_eq!(a.against(&image(&[[0; 4]]), 255), None);
    }

    #[test]
    fn files_come_back_as_they_were() {
        let folder = temporary::folder("tuff-image-").unwrap();
        let path = folder.path().join("a.png");
        let a = image(&[[1, 2, 3, 255], [4, 5, 6, 0]]);
        a.write(&path).unwrap();
        assert_eq!(Image::read(&path).unwrap(), a);
        std::fs::write(&path, b"P6\n2 1\n255\n\x01\x02\x03\x04\x05\x06").unwrap();
        assert_eq!(Image::read(&path).unwrap().rgba, [[1, 2, 3, 255], [4, 5, 6, 255]]);
        for bad in
            [&b"P6\n2 1\n255\n12345"[..], b"P6\n2 1", b"P6 4000000000 4000000000 255 1", b"", b"GIF89a"]
        {
            std::fs::write(&path, bad).unwrap();
            assert!(Image::read(&path).is_err(), "{bad:?}");
        }
    }
}
