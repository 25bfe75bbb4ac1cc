//! The binaries of shader objects: header, signature ([`cache_key`]) of all else, what the program was compiled for, and
//! the program as a pipeline cache has it. What is not ours and whole, of another build, stage or layout, is none.

use crate::cache_key;
use crate::hash::Hasher128;
use crate::pipeline::{self, Compiled, Executable};
use crate::pipeline_cache;
use crate::pipeline_layout::Layout;
use crate::properties::CACHE_UUID;
use std::hash::Hasher;
use std::sync::Arc;

/// Never the beginning of a pipeline cache's blob: that is its length, 32.
const MAGIC: &[u8; 8] = b"TuffShad";
const HEADER: usize = 32;
/// Header and signature.
const PREFIX: usize = HEADER + 16;

/// shaderBinaryVersion. Binaries are of one build alone, as shaderBinaryUUID says.
pub(crate) const VERSION: u32 = 1;

fn header(stage: vk::ShaderStageFlags) -> [u8; HEADER] {
    let mut h = [0; HEADER];
    h[..8].copy_from_slice(MAGIC);
    h[8..12].copy_from_slice(&VERSION.to_le_bytes());
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
    let mut blob = header(made.stage).to_vec();
    blob.extend_from_slice(&[0; 16]);
    blob.extend_from_slice(&compiled_for(layout));
    blob.extend_from_slice(&pipeline_cache::entry(made.key, &made.compiled));
    if let Some(s) = cache_key::sign(&[&blob[..HEADER], &blob[PREFIX..]]) {
        blob[HEADER..PREFIX].copy_from_slice(&s);
    }
    blob
}

/// The program of a binary for a shader of this stage and layout.
pub(crate) fn read(blob: &[u8], stage: vk::ShaderStageFlags, layout: &Layout) -> Option<Executable> {
    let (h, signature, rest) = (blob.get(..HEADER)?, blob.get(HEADER..PREFIX)?, blob.get(PREFIX..)?);
    if h != header(stage) || cache_key::sign(&[h, rest])?[..] != *signature {
        return None;
    }
    let program = rest.strip_prefix(&compiled_for(layout))?;
    let (key, name, program, behind) = pipeline_cache::read_entry(program)?;
    if !behind.is_empty() {
        return None;
    }
    // Those of the same program share it.
    let compiled = pipeline_cache::of_process(key).unwrap_or_else(|| {
        let made = Compiled { program: Arc::new(program), name: name.to_string() };
        pipeline_cache::remember(key, Arc::new(made))
    });
    let content = key as u64;
    Some(Executable { stage, compiled, key, content, blocks: None, code: None }.observing())
}
