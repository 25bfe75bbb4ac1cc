//! Dynamic rendering: regions of one draw and of overdraw, of views and layers, of a part of the target; which counters
//! are asked for, and how.

use super::super::{Check, Found, Rig, check_list, same};
use super::target::{Grid, Target, ask, cover, image, pass, pipeline, rect};
use super::{HIDDEN, LAYER, OCCLUDING, PRIMITIVES, QUADS, SHADED, THREADS, WARPS};
use client::graphics::{Pass, Pipeline, over};

pub fn checks() -> Vec<Check> {
    check_list![
        regions_of_a_triangle = triangle,
        regions_of_overdraw = overdraw,
        regions_of_views = views,
        regions_of_rendered_layers = layers,
        regions_of_a_render_area = area,
        regions_of_an_area_across_regions = across,
        regions_of_a_suspended_pass = suspended
    ]
}

/// 160 × 100 pixels: regions of 64, 64 and 32 columns, 64 and 36 rows. Values in the order of the ids, no others
/// written.
fn triangle(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [160, 100], 4)?;
    let out = Target::new(rig, grid.words() + 64)?;
    let target = image(rig, [160, 100], 1)?;
    let p = pipeline(rig, |_| ())?;
    let (addresses, mut ids) = ([out.address], [THREADS, WARPS, PRIMITIVES, QUADS]);
    let asked = ask(&addresses, &mut ids);
    rig.run(|d, c| pass(&target, &asked).record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 160, 100))))?;
    out.is("values", &grid.filled(&super::TRIANGLE))?;
    Ok(out.found())
}

/// A triangle over all of 128 × 64 pixels; a second opaque one over the right region hides what the first drew there, a
/// blended one over the left does not.
fn draw_over(d: &ash::Device, c: vk::CommandBuffer, opaque: &Pipeline, blended: &Pipeline) {
    cover(d, c, opaque, rect(0, 0, 128, 64));
    cover(d, c, opaque, rect(64, 0, 64, 64));
    cover(d, c, blended, rect(0, 0, 64, 64));
}

/// As many counters as there can be, in an order that is not that of the ids, one of them twice; regions one after the
/// other and not; at addresses that are no multiples of anything.
fn overdraw(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [128, 64], 8)?;
    let target = image(rig, [128, 64], 1)?;
    let opaque = pipeline(rig, |_| ())?;
    let blended = pipeline(rig, |i| i.blend = over())?;
    // 1024 quads, 256 warps and 4096 threads cover a region. Left: an opaque draw and a blended one, both shaded. Right:
    // two opaque ones, of which only the later is.
    let mut ids = [QUADS, THREADS, OCCLUDING, PRIMITIVES, HIDDEN, WARPS, SHADED, WARPS];
    let left = [2048, 8192, 1024, 2, 0, 512, 2048, 512];
    let right = [2048, 4096, 2048, 2, 1024, 256, 1024, 256];
    let mut found = Vec::new();
    for (serialize, byte) in [(vk::TRUE, 0), (vk::FALSE, 0), (vk::FALSE, 36), (vk::TRUE, 6)] {
        for count in [8, 3, 1] {
            let out = Target::new(rig, grid.words() + 64)?;
            let addresses = [out.address + byte as u64];
            let mut asked = ask(&addresses, &mut ids[..count]);
            asked.serialize_regions = serialize;
            rig.run(|d, c| {
                pass(&target, &asked).record(d, c, |d, c| draw_over(d, c, &opaque, &blended));
            })?;
            // A region's eight words hold eight counters or fewer.
            let mut want = grid.filled(&[left, right]);
            for region in want.chunks_mut(grid.stride) {
                region[count..].fill(super::FREE);
            }
            want.extend([super::FREE; 32]);
            let what = format!("{count} counters, serialize {serialize}, at byte {byte}");
            same(&what, out.at(byte, want.len()), want)?;
            found.extend(out.found());
        }
    }
    Ok(found)
}

/// Views 0 and 2 of three, the address between them 0; view 2's lies behind view 0's in one buffer.
fn views(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [64, 64], 1)?;
    let out = Target::new(rig, 64)?;
    let target = image(rig, [64, 64], 3)?;
    let p = pipeline(rig, |i| i.view_mask = 0b101)?;
    let behind = 4 * grid.words() as u64;
    let (addresses, mut ids) = ([out.address, 0, out.address + behind], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    let pass = Pass { view_mask: 0b101, ..pass(&target, &asked) };
    rig.run(|d, c| pass.record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 64, 64))))?;
    out.is("both views", &[grid.filled(&[[256]]), grid.filled(&[[256]])].concat())?;
    Ok(out.found())
}

/// Three layers: all of the last is drawn to, and half of the first; nobody asks for the first, and the second is zeros.
fn layers(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [64, 64], 1)?;
    let out = Target::new(rig, 64)?;
    let target = image(rig, [64, 64], 3)?;
    let p = pipeline(rig, |i| i.vertex = LAYER)?;
    let behind = 4 * grid.words() as u64;
    let (addresses, mut ids) = ([0, out.address, out.address + behind], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    let pass = Pass { layers: 3, ..pass(&target, &asked) };
    rig.run(|d, c| {
        pass.record(d, c, |d, c| {
            super::to_layer(d, c, &p, 2, rect(0, 0, 64, 64));
            super::to_layer(d, c, &p, 0, rect(0, 0, 64, 32));
        });
    })?;
    out.is("layers", &[grid.filled(&[[0]]), grid.filled(&[[256]])].concat())?;
    Ok(out.found())
}

/// Columns 40 to 189 and rows 20 to 119 of 256 × 192 pixels: room for 3 × 2 regions, which is what these columns and rows
/// touch, of 24, 64 and 62 columns and 44 and 56 rows.
fn area(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [150, 100], 2)?;
    let target = image(rig, [256, 192], 1)?;
    let p = pipeline(rig, |_| ())?;
    // Warps: 6, 16 and 16 (62 / 4 is 15.5) columns of them, 11 and 14 rows. Quads: 12, 32 and 31 by 22 and 28.
    let all = [[66, 264], [176, 704], [176, 682], [84, 336], [224, 896], [224, 868]];
    // A corner of the region that begins at pixel (64, 64): 32 × 16 pixels, 8 × 4 warps; regions without work are zeros.
    let mut few = [[0, 0]; 6];
    few[4] = [32, 128];
    let mut found = Vec::new();
    for (part, want) in [(rect(0, 0, 256, 192), all), (rect(64, 64, 32, 16), few)] {
        let out = Target::new(rig, grid.words() + 64)?;
        let (addresses, mut ids) = ([out.address], [WARPS, QUADS]);
        let asked = ask(&addresses, &mut ids);
        let pass = Pass { area: Some(rect(40, 20, 150, 100)), ..pass(&target, &asked) };
        rig.run(|d, c| pass.record(d, c, |d, c| cover(d, c, &p, part)))?;
        out.is(&format!("{part:?}"), &grid.filled(&want))?;
        found.extend(out.found());
    }
    Ok(found)
}

/// 128 × 64 pixels from (32, 32) on touch 3 × 2 regions, but the formula has room for 2 × 1. Whatever a driver does about
/// that, no work is lost and nothing is written behind; Tuff counts the last ones in with their neighbours.
fn across(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [128, 64], 1)?;
    let out = Target::new(rig, grid.words() + 64)?;
    let target = image(rig, [256, 128], 1)?;
    let p = pipeline(rig, |_| ())?;
    let (addresses, mut ids) = ([out.address], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    let pass = Pass { area: Some(rect(32, 32, 128, 64)), ..pass(&target, &asked) };
    rig.run(|d, c| pass.record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 256, 128))))?;
    // Columns 32 to 63, and 64 to 159: 8 and 24 by 16 warps.
    out.is("values", &grid.filled(&[[128], [384]]))?;
    Ok(out.found())
}

/// A pass that is suspended and resumed is one: its values hold the work of both halves, all of the region in the first
/// and half of it in the second.
fn suspended(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [64, 64], 1)?;
    let out = Target::new(rig, grid.words() + 64)?;
    let target = image(rig, [64, 64], 1)?;
    let p = pipeline(rig, |_| ())?;
    let (addresses, mut ids) = ([out.address], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    rig.run(|d, c| {
        let halves = [(vk::RenderingFlags::SUSPENDING, 64), (vk::RenderingFlags::RESUMING, 32)];
        for (flags, rows) in halves {
            let pass = Pass { flags, ..pass(&target, &asked) };
            pass.record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 64, rows)));
        }
    })?;
    out.is("both halves", &grid.filled(&[[384]]))?;
    Ok(out.found())
}
