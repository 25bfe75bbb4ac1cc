//! PNG files of RGBA8 pictures.

use std::path::Path;

/// Pixels of an 8-bit RGBA file, rows from the top.
pub fn decode_png(bytes: &[u8]) -> Result<Vec<[u8; 4]>, String> {
    let mut reader =
        png::Decoder::new(std::io::Cursor::new(bytes)).read_info().map_err(|e| format!("PNG: {e}"))?;
    let mut data = vec![0; reader.output_buffer_size().ok_or("PNG: too large")?];
    let info = reader.next_frame(&mut data).map_err(|e| format!("PNG: {e}"))?;
    if (info.color_type, info.bit_depth) != (png::ColorType::Rgba, png::BitDepth::Eight) {
        return Err("PNG: not 8-bit RGBA".into());
    }
    Ok(data[..info.buffer_size()].chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect())
}

/// Writes one; `note` goes into the file as its comment.
pub fn write_png(path: &Path, size: [u32; 2], pixels: &[[u8; 4]], note: &str) -> Result<(), String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = std::fs::File::create(path).map_err(|e| at(&e))?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), size[0], size[1]);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.add_text_chunk("Comment".into(), note.into()).map_err(|e| at(&e))?;
    let mut writer = encoder.write_header().map_err(|e| at(&e))?;
    writer.write_image_data(pixels.as_flattened()).map_err(|e| at(&e))
}
