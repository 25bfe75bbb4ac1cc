//! Heat maps: what each tile cost, over the picture in grey.

use crate::city::{CELL, SIZE, tiles};
use crate::picture::Picture;

/// Black, violet, red, orange, yellow to white for 0 to 1.
fn ramp(t: f32) -> [f32; 3] {
    const STOPS: [[f32; 3]; 6] = [
        [0.02, 0.02, 0.10],
        [0.35, 0.06, 0.55],
        [0.80, 0.15, 0.35],
        [0.97, 0.45, 0.12],
        [0.99, 0.82, 0.25],
        [1.0, 1.0, 0.92],
    ];
    let at = t.clamp(0.0, 1.0) * (STOPS.len() - 1) as f32;
    let i = (at as usize).min(STOPS.len() - 2);
    std::array::from_fn(|c| STOPS[i][c] + (STOPS[i + 1][c] - STOPS[i][c]) * (at - i as f32))
}

/// The map of `counts` (of each tile, row by row), the dearest tile white, over `picture`.
pub fn map(counts: &[u32], picture: &Picture) -> Picture {
    let across = tiles()[0];
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f32;
    let mut rgba = Vec::with_capacity(picture.rgba.len());
    for (i, p) in picture.rgba.chunks_exact(4).enumerate() {
        let (x, y) = (i as u32 % SIZE[0], i as u32 / SIZE[0]);
        let heat = ramp(counts[(y / CELL * across + x / CELL) as usize] as f32 / most);
        let grey = (f32::from(p[0]) * 0.3 + f32::from(p[1]) * 0.6 + f32::from(p[2]) * 0.1) / 255.0;
        let edge = if x % CELL == 0 || y % CELL == 0 { 0.8 } else { 1.0 };
        rgba.extend(heat.map(|h| (h * (0.55 + 0.45 * grey) * edge * 255.0).round() as u8));
        rgba.push(255);
    }
    Picture { width: picture.width, height: picture.height, rgba }
}

/// The same numbers as characters, two a tile.
pub fn text(counts: &[u32]) -> String {
    const RAMP: &[u8] = b" .:-=+*#%@";
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as usize;
    let rows = counts.chunks(tiles()[0] as usize);
    let cell = |c: &u32| {
        let c = char::from(RAMP[*c as usize * (RAMP.len() - 1) / most]);
        [c, c]
    };
    rows.map(|row| row.iter().flat_map(cell).chain(['\n']).collect::<String>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_tile_is_the_lightest() {
        let [across, down] = tiles();
        let mut counts = vec![100; (across * down) as usize];
        counts[3] = 4000;
        assert_eq!(text(&counts).lines().next().map(|l| &l[..10]), Some("      @@  "));
        let pixels = (SIZE[0] * SIZE[1]) as usize;
        let grey = Picture { width: SIZE[0] as usize, height: SIZE[1] as usize, rgba: vec![128; pixels * 4] };
        let map = map(&counts, &grey);
        let at = |x: usize| map.rgba[(5 * SIZE[0] as usize + x) * 4];
        assert!(at(3 * 64 + 5) > at(2 * 64 + 5));
    }
}
