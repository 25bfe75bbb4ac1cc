//! Dynamic rendering: regions of one draw and of overdraw, of views and layers, of a part of the target; which counters
//! are asked for, and how.

use super::super::{Check, Found, Rig, check_list, same, text};
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
    // two opaque ones, of which only the later is. Each of two primitives counts in four tiles of 32 × 32 pixels.
    let mut ids = [QUADS, THREADS, OCCLUDING, PRIMITIVES, HIDDEN, WARPS, SHADED, WARPS];
    let left = [2048, 8192, 1024, 8, 0, 512, 2048, 512];
    let right = [2048, 4096, 2048, 8, 1024, 256, 1024, 256];
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

/// Views 0 and 2 of three, the address between them 0; view 2's lies after view 0's in one buffer.
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

/// Columns 40 to 191 and rows 20 to 119 of 256 × 192 pixels: room for 3 × 2 regions, the first of which begins where the area does, of
/// 64, 64 and 24 columns and 64 and 36 rows.
fn area(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [152, 100], 2)?;
    let target = image(rig, [256, 192], 1)?;
    let p = pipeline(rig, |_| ())?;
    // Warps: 16, 16 and 6 columns of them, 16 and 9 rows. Quads: 32, 32 and 12 by 32 and 18.
    let all = [[256, 1024], [256, 1024], [96, 384], [144, 576], [144, 576], [54, 216]];
    // 32 × 16 pixels from (104, 84) on, 8 × 4 warps: the corner of the region in the middle below; those without work are zeros.
    let mut few = [[0, 0]; 6];
    few[4] = [32, 128];
    let mut found = Vec::new();
    for (part, want) in [(rect(0, 0, 256, 192), all), (rect(104, 84, 32, 16), few)] {
        let out = Target::new(rig, grid.words() + 64)?;
        let (addresses, mut ids) = ([out.address], [WARPS, QUADS]);
        let asked = ask(&addresses, &mut ids);
        let pass = Pass { area: Some(rect(40, 20, 152, 100)), ..pass(&target, &asked) };
        rig.run(|d, c| pass.record(d, c, |d, c| cover(d, c, &p, part)))?;
        out.is(&format!("{part:?}"), &grid.filled(&want))?;
        found.extend(out.found());
    }
    Ok(found)
}

/// Areas that begin inside tiles of 64 × 64 pixels have the regions that the formula has room for, each with its own work: blocks of
/// 4 × 4 pixels as warps. Where an area does not begin at such a block, Tuff's regions begin at the block's edge, and the columns
/// that have no room count in with their neighbours. That it is counted changes no pixel.
fn across(rig: &Rig) -> Found {
    let p = pipeline(rig, |_| ())?;
    let mut found = Vec::new();
    for (area, want) in [
        (rect(32, 32, 128, 64), &[[256], [256]][..]),
        (rect(4, 60, 64, 100), &[[256], [144]]),
        // Columns 33 to 95, 96 to 159, 160 to 162.
        (rect(33, 32, 130, 64), &[[256], [256], [16]]),
        // Columns 33 to 95 and, without room, 96: 32 quads of their own, which fill eight warps.
        (rect(33, 32, 64, 64), &[[264]]),
    ] {
        let size = [area.extent.width, area.extent.height];
        let grid = Grid::new(rig, size, 1)?;
        let out = Target::new(rig, grid.words() + 64)?;
        let (addresses, mut ids) = ([out.address], [WARPS]);
        let asked = ask(&addresses, &mut ids);
        let mut pictures = Vec::new();
        for chain in [(&raw const asked).cast(), std::ptr::null()] {
            let target = image(rig, [256, 192], 1)?;
            let whole = Pass { chain: std::ptr::null(), ..pass(&target, &asked) };
            let part = Pass { chain, area: Some(area), ..pass(&target, &asked) };
            rig.run(|d, c| {
                whole.record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 100, 100)));
                part.record(d, c, |d, c| cover(d, c, &p, rect(40, 0, 256, 150)));
            })?;
            pictures.push(target.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?);
        }
        // All of the area, alone.
        let target = image(rig, [256, 192], 1)?;
        let part = Pass { area: Some(area), ..pass(&target, &asked) };
        rig.run(|d, c| part.record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 256, 192))))?;
        out.is(&format!("{area:?}"), &grid.filled(want))?;
        same("pictures", pictures[0] == pictures[1], true)?;
        found.extend(out.found());
    }
    Ok(found)
}

/// A pass that is suspended and resumed is one: its values hold the work of both halves, all of the region in the first
/// and half of it in the second, blended; and what the second half hides is not drawn, whichever half it was of.
fn suspended(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [64, 64], 1)?;
    let out = Target::new(rig, grid.words() + 64)?;
    let target = image(rig, [64, 64], 1)?;
    let (opaque, blended) = (pipeline(rig, |_| ())?, pipeline(rig, |i| i.blend = over())?);
    let (addresses, mut ids) = ([out.address], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    let parts = |d: &ash::Device, c, p: &Pipeline| {
        let halves = [(vk::RenderingFlags::SUSPENDING, 64), (vk::RenderingFlags::RESUMING, 32)];
        for (flags, rows) in halves {
            let pass = Pass { flags, ..pass(&target, &asked) };
            pass.record(d, c, |d, c| cover(d, c, p, rect(0, 0, 64, rows)));
        }
    };
    rig.run(|d, c| parts(d, c, &opaque))?;
    out.is("both halves", &grid.filled(&[[256]]))?;
    rig.run(|d, c| parts(d, c, &blended))?;
    out.is("both halves, blended", &grid.filled(&[[384]]))?;
    Ok(out.found())
}
