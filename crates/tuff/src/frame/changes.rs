//! Chunks of changes: what each step of a pass makes of its attachments, as the page has it.

use super::data::Pass;
use super::tiles::{BLOCKS, Change, lane, steps};
use std::collections::BTreeMap;

/// Bytes of a change before its pixels: step and tile, four bytes each; plane; sample; a bit for each block.
const HEAD: usize = 4 + 4 + 1 + 1 + BLOCKS / 8;

/// A change: its head, and the pixels of its blocks row by row.
pub fn bytes(c: &Change, tile: usize, pass: &Pass) -> Vec<u8> {
    let n = pass.planes[c.plane as usize].bytes;
    let mut out = Vec::with_capacity(HEAD + c.blocks.len() * 16 * n);
    let mut bits = [0u8; BLOCKS / 8];
    c.blocks.iter().for_each(|(b, _)| bits[*b as usize / 8] |= 1 << (b % 8));
    head(&mut out, c.step.min(steps(pass)), tile as u32, [c.plane, c.sample], bits);
    for (_, xor) in &c.blocks {
        let mut rows = vec![0; 16 * n];
        for l in 0..16 {
            let [x, y] = lane(l);
            let to = (y * 4 + x) * n;
            rows[to..to + n].copy_from_slice(&xor[l * n..(l + 1) * n]);
        }
        out.extend(rows);
    }
    out
}

fn head(out: &mut Vec<u8>, step: u32, tile: u32, plane_and_sample: [u8; 2], bits: [u8; BLOCKS / 8]) {
    out.extend(step.to_le_bytes());
    out.extend(tile.to_le_bytes());
    out.extend(plane_and_sample);
    out.extend(bits);
}

/// All changes of a chunk, which has all of each of its tiles, as changes of the pass's last step.
pub fn ends(chunk: &[u8], pass: &Pass) -> Vec<u8> {
    let mut all: BTreeMap<(u32, [u8; 2]), BTreeMap<u8, Vec<u8>>> = BTreeMap::new();
    let mut rest = chunk;
    while let Some((head, after)) = rest.split_first_chunk::<HEAD>() {
        let tile = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let own = all.entry((tile, [head[8], head[9]])).or_default();
        let n = 16 * pass.planes[head[8] as usize].bytes;
        rest = after;
        for b in (0..BLOCKS).filter(|b| head[10 + b / 8] >> (b % 8) & 1 != 0) {
            let (xor, after) = rest.split_at(n);
            rest = after;
            let sum = own.entry(b as u8).or_insert_with(|| vec![0; n]);
            sum.iter_mut().zip(xor).for_each(|(a, b)| *a ^= b);
        }
    }
    let mut out = vec![];
    for ((tile, of), mut blocks) in all {
        blocks.retain(|_, xor| xor.iter().any(|b| *b != 0));
        if blocks.is_empty() {
            continue;
        }
        let mut bits = [0u8; BLOCKS / 8];
        blocks.keys().for_each(|b| bits[*b as usize / 8] |= 1 << (b % 8));
        head(&mut out, steps(pass) - 1, tile, of, bits);
        blocks.values().for_each(|xor| out.extend(xor));
    }
    out
}
