//! Pictures: PNG files, and thumbnails for a terminal.

use std::fmt::Write;
use std::path::Path;

/// RGBA, 8 bits a channel, rows from the top.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgba: Vec<u8>,
}

impl Picture {
    pub fn write_png(&self, path: &Path) -> Result<(), String> {
        let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| at(&e))?;
        }
        let file = std::fs::File::create(path).map_err(|e| at(&e))?;
        let mut encoder =
            png::Encoder::new(std::io::BufWriter::new(file), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(|e| at(&e))?;
        writer.write_image_data(&self.rgba).map_err(|e| at(&e))
    }

    /// Upside down: for shaders whose y grows upwards.
    pub fn flipped(mut self) -> Self {
        let row = self.width * 4;
        self.rgba = self.rgba.chunks_exact(row).rev().flatten().copied().collect();
        self
    }

    /// The mean colour of a rectangle of `columns` × `rows` equal ones.
    fn cell(&self, columns: usize, rows: usize, x: usize, y: usize) -> [u8; 3] {
        let (x0, x1) = (x * self.width / columns, (x + 1) * self.width / columns);
        let (y0, y1) = (y * self.height / rows, (y + 1) * self.height / rows);
        let mut sum = [0usize; 3];
        let mut count = 0;
        for py in y0..y1.max(y0 + 1) {
            for px in x0..x1.max(x0 + 1) {
                let at = (py * self.width + px) * 4;
                (0..3).for_each(|c| sum[c] += usize::from(self.rgba[at + c]));
                count += 1;
            }
        }
        sum.map(|s| (s / count) as u8)
    }

    /// Two pixels a character (upper half block), in 24-bit colours.
    pub fn ansi(&self, columns: usize) -> String {
        let rows = (columns * self.height / self.width).max(2) & !1;
        let mut text = String::new();
        for y in (0..rows).step_by(2) {
            for x in 0..columns {
                let [r, g, b] = self.cell(columns, rows, x, y);
                let [s, h, c] = self.cell(columns, rows, x, y + 1);
                let _ = write!(text, "\x1b[38;2;{r};{g};{b};48;2;{s};{h};{c}m▀");
            }
            text += "\x1b[0m\n";
        }
        text
    }

    /// A character a cell, darker to lighter, for a terminal or a log without colours.
    pub fn ascii(&self, columns: usize) -> String {
        const RAMP: &[u8] = b" .:-=+*#%@";
        let rows = (columns * self.height / self.width / 2).max(1);
        let mut text = String::new();
        for y in 0..rows {
            for x in 0..columns {
                let [r, g, b] = self.cell(columns, rows, x, y).map(usize::from);
                let light = (r * 54 + g * 183 + b * 19) / 256;
                text.push(char::from(RAMP[light * RAMP.len() / 256]));
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves() -> Picture {
        let white = [255u8; 8];
        let black = [0, 0, 0, 255, 0, 0, 0, 255];
        Picture { width: 2, height: 4, rgba: [black, black, white, white].concat() }
    }

    #[test]
    fn thumbnails_show_light_and_dark() {
        assert_eq!(halves().ascii(2), "  \n@@\n");
        assert_eq!(halves().flipped().ascii(2), "@@\n  \n");
        assert!(halves().ansi(2).starts_with("\x1b[38;2;0;0;0;48;2;0;0;0m▀"));
    }

    #[test]
    fn a_png_reads_back() {
        let path = client::scratch("picture.png").unwrap();
        halves().write_png(&path).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bytes, halves().rgba);
    }
}
