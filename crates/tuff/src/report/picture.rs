//! A capture's pictures, in the page.

use client::{Error, Result};
use std::path::Path;

/// Pixels, three bytes each.
struct Rgb {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

/// A picture of P6 (Netpbm), as the driver writes it; `None`: something else.
fn parse(file: &[u8]) -> Option<Rgb> {
    let mut words = file.splitn(4, |b| b.is_ascii_whitespace());
    let mut number = |what: &[u8]| -> Option<usize> {
        let word = words.next()?;
        if what.is_empty() {
            std::str::from_utf8(word).ok()?.parse().ok()
        } else {
            (word == what).then_some(0)
        }
    };
    number(b"P6")?;
    let (width, height) = (number(b"")?, number(b"")?);
    let bytes = words.next()?.strip_prefix(b"255\n")?;
    let size = width.checked_mul(height)?.checked_mul(3)?;
    (bytes.len() == size && size > 0).then(|| Rgb { width, height, bytes: bytes.to_vec() })
}

impl Rgb {
    /// `by` × `by` pixels become one.
    fn smaller(&self, by: usize) -> Rgb {
        let (width, height) = (self.width.div_ceil(by), self.height.div_ceil(by));
        let mut bytes = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            for x in 0..width {
                let (x1, y1) = (self.width.min((x + 1) * by), self.height.min((y + 1) * by));
                let n = (x1 - x * by) * (y1 - y * by);
                for c in 0..3 {
                    let row = |py: usize| (x * by..x1).map(move |px| (py * self.width + px) * 3 + c);
                    let sum: usize = (y * by..y1).flat_map(row).map(|i| usize::from(self.bytes[i])).sum();
                    bytes.push((sum / n) as u8);
                }
            }
        }
        Rgb { width, height, bytes }
    }

    /// With five bits a channel: a picture under a heat map shows no more, and takes half the bytes.
    fn coarse(mut self) -> Rgb {
        self.bytes.iter_mut().for_each(|b| *b = (*b & 0xf8) | (*b >> 5));
        self
    }

    fn png(&self) -> std::result::Result<Vec<u8>, png::EncodingError> {
        let mut out = vec![];
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.write_header()?.write_image_data(&self.bytes)?;
        Ok(out)
    }
}

/// Base64 (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn url(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64(png))
}

/// A picture as it is, as a data URL.
pub fn whole([width, height]: [usize; 2], bytes: Vec<u8>) -> Result<String> {
    let png = Rgb { width, height, bytes }.png().map_err(|e| Error(format!("a picture: {e}")))?;
    Ok(url(&png))
}

/// The file as a data URL of at most so many bytes; `None`: it is no picture.
pub fn embedded(file: &Path, most: usize) -> Result<Option<String>> {
    let bytes = std::fs::read(file).map_err(|e| Error::file(file, e))?;
    let Some(whole) = parse(&bytes) else { return Ok(None) };
    // Twice the pixels that a page shows it with are enough.
    let mut by = whole.width.div_ceil(960).max(1);
    loop {
        let png = whole.smaller(by).coarse().png().map_err(|e| Error::file(file, e))?;
        if png.len() / 3 * 4 <= most || by >= whole.width {
            return Ok(Some(url(&png)));
        }
        by += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn base64_of_the_rfc() {
        let of = |s: &str| base64(s.as_bytes());
        assert_eq!(
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(of),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        );
    }

    #[test]
    fn a_picture_is_read_and_made_smaller() {
        let file = [b"P6\n3 2\n255\n".as_slice(), &(0..18).map(|i| i * 10).collect::<Vec<u8>>()].concat();
        let all = parse(&file).unwrap();
        assert_eq!((all.width, all.height, all.bytes[17]), (3, 2, 170));
        let small = all.smaller(2);
        // Red of four pixels: 0, 30, 90, 120; of the last column two: 60 and 150.
        assert_eq!((small.width, small.height, small.bytes[0], small.bytes[3]), (2, 1, 60, 105));
        assert!(parse(&file[..20]).is_none());
        assert!(parse(b"P5\n1 1\n255\nx").is_none());
    }
}
