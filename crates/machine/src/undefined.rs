//! Tells of reads of what a render pass discarded ([`texel::image::discarded`]).

use crate::shared::Report;
use shader::bytecode::ImageCode;
use shader::ir::ImageOp;
use std::sync::atomic::Ordering::Relaxed;
use texel::image::Image;
use texel::image::discarded::Part;
use texel::sample::ImageView;

fn tell(report: &dyn Report, reader: &str, image: &Image, pass: &str) {
    let name = match image.handle.load(Relaxed) {
        0 => String::new(),
        handle => format!(" {}", report.called(handle)),
    };
    report.warn(&format!(
        "{reader} reads image{name}, whose contents are undefined: the last render pass that drew to it did not store them \
         (VK_ATTACHMENT_STORE_OP_DONT_CARE): {pass}"
    ));
}

/// `reader` reads all of a part.
pub fn read(report: &dyn Report, image: &Image, part: &Part, reader: impl FnOnce() -> String) {
    if let Some(pass) = image.discarded.read(part) {
        tell(report, &reader(), image, &pass);
    }
}

/// The layers of a view: slices of a 3D image.
fn part(view: &ImageView) -> Part {
    let (level, layer) = (view.range.base_mip_level, view.range.base_array_layer);
    let extent = view.image.mip_extent(level);
    let layers = if view.dims == 3 { 0..extent[2] } else { layer..layer.saturating_add(view.layers) };
    Part {
        aspects: view.range.aspect_mask,
        levels: level..level + view.levels.len() as u32,
        layers,
        area: [0..extent[0], 0..extent[1]],
    }
}

/// A shader runs `code` on an image of which something is discarded. Which texels it touches is not looked at.
#[cold]
pub fn accessed(report: &dyn Report, code: &ImageCode, view: &ImageView) {
    match code.op {
        ImageOp::Write | ImageOp::Atomic(_) => view.image.discarded.forget(),
        ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read => {
            let extent = |level| {
                let [w, h, _] = view.image.mip_extent(level);
                [w, h]
            };
            if let Some(pass) = view.image.discarded.read_somewhere(&part(view), extent) {
                tell(report, "a shader", &view.image, &pass);
            }
        }
        _ => {}
    }
}
