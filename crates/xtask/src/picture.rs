//! Pictures of 8 bits a channel, and how far two of them are apart.

/// Red, green and blue of each pixel, by rows.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub bytes: Vec<u8>,
}

/// More than this many of 255 is a difference: 2 % of a channel.
const SEEN: u8 = 5;

/// How two pictures differ.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Difference {
    /// Pixels with a channel that differs by more than 2 %, and all pixels.
    pub pixels: usize,
    pub of: usize,
    /// The most that a channel differs by.
    pub most: u8,
}

impl Difference {
    /// Of a hundred pixels.
    pub fn percent(&self) -> f64 {
        self.pixels as f64 * 100.0 / self.of as f64
    }
}

impl Picture {
    /// From a PPM file of 8 bits.
    pub fn read(file: &[u8]) -> Result<Picture, String> {
        let mut at = 0;
        let mut word = || {
            let start = at + file[at..].iter().position(|b| !b.is_ascii_whitespace())?;
            let end = start + file[start..].iter().position(u8::is_ascii_whitespace)?;
            at = end;
            std::str::from_utf8(&file[start..end]).ok()
        };
        let words = [word(), word(), word(), word()];
        let [Some("P6"), Some(width), Some(height), Some("255")] = words else {
            return Err("no PPM file of 8 bits a channel".into());
        };
        let number = |w: &str| w.parse::<usize>().map_err(|e| format!("{w}: {e}"));
        let (width, height) = (number(width)?, number(height)?);
        let bytes = file.get(at + 1..).unwrap_or_default().to_vec();
        match width.checked_mul(height).and_then(|n| n.checked_mul(3)) {
            Some(n) if n == bytes.len() && n > 0 => Ok(Picture { width, height, bytes }),
            _ => Err(format!("{} bytes, not {width} × {height} pixels", bytes.len())),
        }
    }

    /// From a PNG file of 8 bits a channel, red, green and blue with or without alpha.
    pub fn read_png(file: &[u8]) -> Result<Picture, String> {
        let mut reader =
            png::Decoder::new(std::io::Cursor::new(file)).read_info().map_err(|e| e.to_string())?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("too large a picture")?];
        let info = reader.next_frame(&mut bytes).map_err(|e| e.to_string())?;
        let channels = match (info.bit_depth, info.color_type) {
            (png::BitDepth::Eight, png::ColorType::Rgb) => 3,
            (png::BitDepth::Eight, png::ColorType::Rgba) => 4,
            other => return Err(format!("a PNG file of {other:?}")),
        };
        let bytes = bytes[..info.buffer_size()].chunks(channels).flat_map(|p| [p[0], p[1], p[2]]).collect();
        Ok(Picture { width: info.width as usize, height: info.height as usize, bytes })
    }

    /// As a PPM file.
    pub fn file(&self) -> Vec<u8> {
        let mut file = format!("P6\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend(&self.bytes);
        file
    }

    /// Half as wide and as high: each pixel is the mean of four.
    pub fn halved(&self) -> Picture {
        let (width, height) = (self.width / 2, self.height / 2);
        let mean = |x: usize, y: usize, c: usize| {
            let at = |x: usize, y: usize| u32::from(self.bytes[(y * self.width + x) * 3 + c]);
            let (x, y) = (2 * x, 2 * y);
            ((at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1) + 2) / 4) as u8
        };
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let bytes = pixels.flat_map(|(x, y)| [0, 1, 2].map(|c| mean(x, y, c))).collect();
        Picture { width, height, bytes }
    }

    /// Percent of the pixels whose colours are more than a tenth of the largest distance apart, luma weighing most (the
    /// distance in YIQ of Kotsarenko and Ramos, 2010, by which pixelmatch goes). `None`: the pictures differ in size.
    pub fn seen_apart(&self, other: &Picture) -> Option<f64> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        const MOST: f64 = 35215.0;
        let apart = |(a, b): &(&[u8], &[u8])| {
            let [r, g, b] = [0, 1, 2].map(|c| f64::from(a[c]) - f64::from(b[c]));
            let y = r * 0.298_895_31 + g * 0.586_622_47 + b * 0.114_482_23;
            let i = r * 0.595_977_99 - g * 0.274_176_10 - b * 0.321_801_89;
            let q = r * 0.211_470_17 - g * 0.522_617_11 + b * 0.311_146_94;
            0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q > MOST * 0.1 * 0.1
        };
        let count = self.bytes.chunks(3).zip(other.bytes.chunks(3)).filter(apart).count();
        Some(count as f64 * 100.0 / (self.width * self.height) as f64)
    }

    /// Whether all pixels have one colour.
    pub fn is_plain(&self) -> bool {
        self.bytes.chunks(3).all(|p| p == &self.bytes[..3])
    }

    /// Nothing where sizes differ.
    pub fn difference(&self, other: &Picture) -> Option<Difference> {
        let most = self.apart(other)?;
        Some(Difference {
            pixels: most.iter().filter(|d| **d > SEEN).count(),
            of: most.len(),
            most: most.into_iter().max().unwrap_or(0),
        })
    }

    /// Red where pixels differ, on this picture made grey and dark.
    pub fn shown_beside(&self, other: &Picture) -> Option<Picture> {
        let pixels = self.apart(other)?.into_iter().zip(self.bytes.chunks(3)).flat_map(|(d, p)| {
            let grey = ((u32::from(p[0]) + u32::from(p[1]) + u32::from(p[2])) / 9) as u8;
            if d > SEEN { [255, 255 - d, 0] } else { [grey; 3] }
        });
        Some(Picture { bytes: pixels.collect(), ..*self })
    }

    /// The most that a channel of each pixel differs by.
    fn apart(&self, other: &Picture) -> Option<Vec<u8>> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        let pairs = self.bytes.chunks(3).zip(other.bytes.chunks(3));
        Some(pairs.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bytes: &[u8]) -> Picture {
        Picture { width: bytes.len() / 3, height: 1, bytes: bytes.into() }
    }

    #[test]
    fn files_are_read_and_written() {
        let picture = row(&[1, 2, 3, 4, 5, 10]);
        assert_eq!(Picture::read(&picture.file()), Ok(picture));
        for bad in [&b"P6\n2 1\n255\n12345"[..], b"P5\n2 1\n255\n123456", b"P6\n2 1", b"", b"P6\n0 1\n255\n"]
        {
            assert!(Picture::read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn two_per_cent_of_a_channel_is_a_difference() {
        let a = row(&[10, 10, 10, 20, 20, 20, 30, 30, 30]);
        let b = row(&[10, 15, 10, 20, 20, 26, 30, 30, 30]);
        assert_eq!(a.difference(&b), Some(Difference { pixels: 1, of: 3, most: 6 }));
        assert_eq!(a.difference(&row(&[1, 2, 3])), None);
        assert_eq!(a.shown_beside(&b).unwrap().bytes[3..6], [255, 249, 0]);
        assert!(!a.is_plain() && row(&[7, 8, 9, 7, 8, 9]).is_plain());
    }
}
