//! The first frame of a pipeline that nobody has seen: fragment shaders of growing size with new constants.

use super::{FORMAT, spirv};
use crate::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use crate::measure::{Moment, Span};
use crate::{Context, Error, Result};
use std::rc::Rc;

/// Fragment shaders by name, smallest first.
pub const FIRST_FRAMES: [(&str, &[u8]); 4] = [
    ("flat", spirv!("flat.frag")),
    ("small", spirv!("small.frag")),
    ("medium", spirv!("medium.frag")),
    ("large", spirv!("large.frag")),
];

/// One tile.
const SIDE: u32 = 64;

/// Time of pipeline creation, recording and the first draw, over one tile. `seed` changes every float constant a
/// little. Whatever the driver sets up once is done before, with another pipeline.
pub fn first_frame(context: &Rc<Context>, name: &str, seed: u64) -> Result<Span> {
    let fragment = FIRST_FRAMES.iter().find(|f| f.0 == name).map(|f| f.1);
    let fragment = fragment.ok_or_else(|| Error(format!("no fragment shader is called {name}")))?;
    let target = Image::new(context, ImageInfo::colour(FORMAT, [SIDE, SIDE]))?;
    frame(context, &target, spirv!("tex.frag"), false)?;
    frame(context, &target, &varied(FIRST_FRAMES[0].1, !seed), true)?;
    let code = varied(fragment, seed);
    let start = Moment::now();
    frame(context, &target, &code, true)?;
    let span = start.elapsed();
    let pixels = target.read(ash::vk::ImageAspectFlags::COLOR, 4)?;
    if pixels.chunks_exact(4).all(|p| p == CLEAR_TEXEL) {
        return Err(Error("nothing was drawn".into()));
    }
    Ok(span)
}

const CLEAR_TEXEL: [u8; 4] = [255, 0, 255, 0];

fn frame(context: &Rc<Context>, target: &Image, fragment: &[u8], draw: bool) -> Result<()> {
    let pipeline = match draw {
        true => {
            Some(Pipeline::new(context, &PipelineInfo::new(spirv!("quad.vert"), fragment, FORMAT), None)?)
        }
        false => None,
    };
    let pass = Pass {
        colours: vec![Attachment::new(target, Load::colour([1.0, 0.0, 1.0, 0.0]))],
        size: [SIDE, SIDE],
        ..Default::default()
    };
    context.run(|device, commands| {
        pass.record(device, commands, |device, commands| {
            if let Some(pipeline) = &pipeline {
                pipeline.bind(commands, None, &[]);
                // SAFETY: recording inside a pass.
                unsafe { device.cmd_draw(commands, 3, 1, 0, 0) }
            }
        });
    })
}

/// The module with every 32-bit float constant but 0 and 1 changed by up to one part in 4096.
fn varied(spirv: &[u8], seed: u64) -> Vec<u8> {
    const HEADER: usize = 5;
    const TYPE_FLOAT: u32 = 22;
    const CONSTANT: u32 = 43;
    let mut words = crate::words(spirv);
    let mut state = seed;
    let mut float = None;
    let mut at = HEADER;
    while at < words.len() {
        let (op, length) = (words[at] & 0xffff, (words[at] >> 16).max(1) as usize);
        match op {
            TYPE_FLOAT if words[at + 2] == 32 => float = Some(words[at + 1]),
            CONSTANT if Some(words[at + 1]) == float => {
                let value = f32::from_bits(words[at + 3]);
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if value != 0.0 && value != 1.0 {
                    words[at + 3] = (value * (1.0 + (state >> 40) as f32 / (1u64 << 36) as f32)).to_bits();
                }
            }
            _ => {}
        }
        at += length;
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_change_constants_and_nothing_else() {
        for (name, code) in FIRST_FRAMES {
            let (a, b) = (varied(code, 1), varied(code, 2));
            assert_eq!(a.len(), code.len());
            let words = |x: &[u8], y: &[u8]| x.chunks(4).zip(y.chunks(4)).filter(|(a, b)| a != b).count();
            assert!(words(&a, &b) > 0, "{name}");
            assert!(words(&a, code) < code.len() / 16, "{name}");
        }
    }
}
