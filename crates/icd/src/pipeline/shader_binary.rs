//! The binaries of shader objects ([`signed`]): header, signature of all else, what the program was compiled for, and
//! the program as a pipeline cache has it. What is not ours and whole, of another build, stage or layout, is none.

use crate::base::answer::Answer;
use crate::base::hash::Hasher128;
use crate::base::signed::{Draft, Header, Verified};
use crate::base::stage::stage_of;
use crate::instance::limits::SHADER_BINARY_VERSION;
use crate::instance::properties::CACHE_UUID;
use crate::pipeline::pipeline_cache;
use crate::pipeline::pipeline_layout::Layout;
use crate::pipeline::{self, Executable};
use std::hash::Hasher;

/// Never the beginning of a pipeline cache's blob: that is its length, 32.
const MAGIC: &[u8; 8] = b"TuffShad";

fn header(stage: vk::ShaderStageFlags) -> Header {
    let mut h = Header::default();
    h[..8].copy_from_slice(MAGIC);
    h[8..12].copy_from_slice(&SHADER_BINARY_VERSION.to_le_bytes());
    h[12..16].copy_from_slice(&stage.as_raw().to_le_bytes());
    h[16..].copy_from_slice(&CACHE_UUID);
    h
}

/// What a program of this stage was compiled for.
fn compiled_for(layout: &Layout) -> [u8; 16] {
    let mut h = Hasher128::default();
    pipeline::surroundings(layout, &mut h);
    h.write_u32(layout.push_bytes);
    h.done().to_le_bytes()
}

pub(crate) fn write(made: &Executable, layout: &Layout) -> Vec<u8> {
    let mut blob = Draft::new(header(made.stage));
    blob.add(&compiled_for(layout));
    blob.add(&pipeline_cache::entry(made.key, &made.compiled));
    blob.signed()
}

/// The program of a binary for a shader of this stage and layout.
pub(crate) fn read(bytes: &[u8], stage: vk::ShaderStageFlags, layout: &Layout) -> Answer<Executable> {
    let blob = Verified::copied(bytes, |h| *h == header(stage))?;
    let made = blob.and_then(|blob| of_blob(&blob, stage, layout));
    made.ok_or(vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT)
}

fn of_blob(blob: &Verified, stage: vk::ShaderStageFlags, layout: &Layout) -> Option<Executable> {
    let (made_for, rest) = blob.body().split_chunk()?;
    let (key, made, behind) = pipeline_cache::read_entry(rest)?;
    if *made_for != compiled_for(layout) || !behind.is_empty() {
        return None;
    }
    // Those of the same program share it.
    let compiled = pipeline_cache::shared(key, made);
    let fits = Some(compiled.program.stage) == stage_of(stage) && layout.has_all(&compiled.program);
    let content = key as u64;
    fits.then(|| {
        Executable { stage, compiled, key, content, blocks: None, code: None, spec: Vec::new(), made: None }
            .observing()
    })
}
