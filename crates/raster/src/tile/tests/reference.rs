//! What a tile holds after draws, by one lane: primitive by primitive in their order, pixel by pixel, sample by sample.

use super::scene::{Case, Content, SIDE};
use crate::geometry::Batch;
use crate::layout::TILE;
use crate::prim::{Edge, Plane, Prim, Shape};
use crate::state::{Rect, State};
use crate::tile::memory::plane::quantise;
use crate::tile::test::stencil::one;
use ash::vk;
use shader::ir::Input;
use texel::format::kernels::{load_fn, store_fn};

/// What draws count.
#[derive(Default, Debug, PartialEq, Clone, Copy)]
pub struct Counts {
    pub quads: u64,
    pub partial: u64,
    pub passed: u64,
}

/// A plane's value at a point of the framebuffer.
fn linear(p: &Prim, plane: &Plane, [x, y]: [f32; 2]) -> f32 {
    let [x0, y0] = p.origin();
    plane.at + (plane.dx * (x - x0) + plane.dy * (y - y0))
}

fn compare(op: vk::CompareOp, a: f32, b: f32) -> bool {
    match op {
        vk::CompareOp::NEVER => false,
        vk::CompareOp::LESS => a < b,
        vk::CompareOp::EQUAL => a == b,
        vk::CompareOp::LESS_OR_EQUAL => a <= b,
        vk::CompareOp::GREATER => a > b,
        vk::CompareOp::NOT_EQUAL => a != b,
        vk::CompareOp::GREATER_OR_EQUAL => a >= b,
        _ => true,
    }
}

/// Which samples of the tile's pixels a primitive covers, row by row, a bit each.
fn covered(b: &Batch, p: &Prim, origin: [i32; 2], places: &[[u8; 2]]) -> Vec<u16> {
    let mut all = vec![0; SIDE * SIDE];
    let edges = p.edges(&b.edges);
    let centers = p.form.shape() == Shape::Centers;
    let tile = Rect { x0: origin[0], y0: origin[1], x1: origin[0] + TILE, y1: origin[1] + TILE };
    let r = p.bounds.rect().intersect(&tile);
    for (x, y) in (r.y0..r.y1).flat_map(|y| (r.x0..r.x1).map(move |x| (x, y))) {
        let to = &mut all[(y - origin[1]) as usize * SIDE + (x - origin[0]) as usize];
        for (s, place) in places.iter().enumerate() {
            let [sx, sy] = if centers { [8, 8] } else { *place };
            let inside = |e: &Edge| {
                let (x, y) = (x as i64 * 256 + sx as i64 * 16, y as i64 * 256 + sy as i64 * 16);
                e.a as i64 * x + e.b as i64 * y + e.c >= 0
            };
            let covers = match p.form.shape() {
                Shape::Pixels => {
                    let [first, count] = p.listed();
                    b.pixels[first as usize..][..count as usize].contains(&[x, y])
                }
                _ => edges[..p.form.edges()].iter().all(inside),
            };
            *to |= (covers as u16) << s;
        }
    }
    all
}

/// An input of the fragment program at a pixel, or at one of its samples.
fn input(case: &Case, b: &Batch, p: &Prim, i: Input, [x, y]: [i32; 2], offset: [f32; 2]) -> u32 {
    let at = [x as f32 + offset[0], y as f32 + offset[1]];
    match i {
        Input::Varying(slot) => {
            let plane = &b.planes[p.planes as usize + slot as usize];
            if slot == Case::FLAT {
                return plane.at.to_bits();
            }
            let v = linear(p, plane, at);
            if case.perspective { v * (1.0 / linear(p, &p.w, at)) } else { v }.to_bits()
        }
        Input::FragCoord(c) => match c {
            0 | 1 => at[c as usize].to_bits(),
            2 => linear(p, &p.z, at).to_bits(),
            _ => linear(p, &p.w, at).to_bits(),
        },
        Input::Layer => p.layer as u32,
        _ => panic!("{i:?}"),
    }
}

/// Quads with a covered sample, and those of them with one that is not covered.
fn quads(samples: usize, covered: &[u16]) -> Counts {
    let mut c = Counts::default();
    for at in (0..SIDE * SIDE).filter(|at| (at % SIDE).is_multiple_of(2) && (at / SIDE).is_multiple_of(2)) {
        let [p, q, r, s] = [at, at + 1, at + SIDE, at + SIDE + 1].map(|at| covered[at]);
        let (any, all) = (p | q | r | s, p & q & r & s);
        c.quads += (any != 0) as u64;
        c.partial += (any != 0 && all.count_ones() < samples as u32) as u64;
    }
    c
}

/// A pixel after a colour was written to it, or added.
fn written(case: &Case, mut color: [u32; 4], old: [u8; 16]) -> [u8; 16] {
    let f = case.format();
    if case.blend {
        // SAFETY: a pixel.
        let below = unsafe { load_fn(f)(f, old.as_ptr()) };
        color = std::array::from_fn(|c| (f32::from_bits(color[c]) + f32::from_bits(below[c])).to_bits());
    }
    let mut new = old;
    // SAFETY: room for a pixel.
    unsafe { store_fn(f)(f, new.as_mut_ptr(), color) };
    new
}

/// Draws a batch, primitive by primitive; the framebuffer's pixel `origin` is the first one of `to`.
pub fn draw(case: &Case, state: &State, b: &Batch, origin: [i32; 2], to: &mut Content) -> Counts {
    let samples = case.samples as usize;
    let places = case.places();
    let mut counts = Counts::default();
    for p in &b.prims {
        let mut covered = covered(b, p, origin, places);
        covered.iter_mut().for_each(|c| *c &= state.samples.mask as u16);
        let of = match p.form.shape() {
            // Listed pixels come out of the rasteriser one by one.
            Shape::Pixels => {
                let n = covered.iter().filter(|c| **c != 0).count() as u64;
                Counts { quads: n, partial: n, passed: 0 }
            }
            _ => quads(samples, &covered),
        };
        (counts.quads, counts.partial) = (counts.quads + of.quads, counts.partial + of.partial);
        for (n, covered) in covered.iter().enumerate() {
            if *covered == 0 {
                continue;
            }
            let at = [origin[0] + (n % SIDE) as i32, origin[1] + (n / SIDE) as i32];
            for s in (0..samples).filter(|s| covered >> s & 1 != 0) {
                let place = places[s].map(|v| v as f32 / 16.0);
                let center = if case.per_sample && samples > 1 { place } else { [0.5; 2] };
                let read = |i: Input| input(case, b, p, i, at, center);
                let mut color = case.inputs.outputs().map(read);
                if case.mask_out.is_some_and(|i| read(i) >> s & 1 == 0) {
                    continue;
                }
                if state.samples.alpha_to_coverage {
                    let alpha = f32::from_bits(color[3]).clamp(0.0, 1.0);
                    if (s + 1) as f32 > alpha * samples as f32 + 0.5 {
                        continue;
                    }
                }
                if state.samples.alpha_to_one {
                    color[3] = 1f32.to_bits();
                }
                let texel = &mut to.samples[n][s];
                let z = match case.depth_out {
                    Some(i) => f32::from_bits(read(i)),
                    None => linear(p, &p.z, [at[0] as f32 + place[0], at[1] as f32 + place[1]]),
                };
                let z = quantise(z, case.depth_scale());
                let passes = !state.depth.test || compare(state.depth.compare, z, texel.depth);
                let mut ok = true;
                if let Some([front, back]) = &state.stencil {
                    let face = if p.side.front() { front } else { back };
                    (ok, texel.stencil) = one(face, passes, texel.stencil, face.reference);
                }
                if !(ok && passes) {
                    continue;
                }
                counts.passed += 1;
                if state.depth.test && state.depth.write {
                    texel.depth = z;
                }
                texel.color = written(case, color, texel.color);
            }
        }
    }
    counts
}
