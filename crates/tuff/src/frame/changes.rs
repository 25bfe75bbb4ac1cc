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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Two commands change block 3 of tile 70 000, the second one back but for its first pixel; block 5 is changed and changed back.
    #[test]
    fn changes_of_all_steps_add_up_to_those_of_the_last() {
        let command = json!({ "kind": "draw", "name": "", "label": "", "subpass": 0 });
        let pass = json!({
            "area": [0, 0, 64, 64], "layers": 1, "subpasses": [], "states": [], "tiles": [],
            "attachments": [{ "name": "", "format": null, "samples": 1 }],
            "planes": [{ "attachment": 0, "stands_in": false, "aspect": "stencil", "bytes": 1, "samples": 1, "scale": 0.0 }],
            "commands": [command.clone(), command],
        });
        let pass: Pass = serde_json::from_value(pass).expect("a pass");
        let change = |step, blocks: &[(u8, [u8; 16])]| {
            let blocks = blocks.iter().map(|(b, xor)| (*b, xor.to_vec())).collect();
            bytes(&Change { step, plane: 0, sample: 0, blocks }, 70_000, &pass)
        };
        let mut most = [7; 16];
        most[0] = 2;
        let chunk =
            [change(1, &[(3, [7; 16]), (5, [1; 16])]), change(2, &[(3, most), (5, [1; 16])])].concat();
        let mut first = [0; 16];
        first[0] = 7 ^ 2;
        // Of four steps (begin, two commands, end) the last.
        assert_eq!(ends(&chunk, &pass), change(3, &[(3, first)]));
        let head = change(3, &[(3, first)]);
        assert_eq!(
            (&head[..10], head[10], head.len()),
            (&[3, 0, 0, 0, 0x70, 0x11, 1, 0, 0, 0][..], 8, 42 + 16)
        );
    }
}
