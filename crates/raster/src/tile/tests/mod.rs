//! Whole tiles, drawn by all kernels together, against a reference of one lane ([`reference`]).

mod reference;
mod scene;

use crate::layout::{TILE, pixel};
use crate::state::Rect;
use crate::tile::Scratches;
use crate::tile::counts::{InTile, TileCounts};
use crate::tile::item::events::DrawCounts;
use crate::tile::item::hidden;
use crate::tile::item::op::{Op, Step};
use crate::tile::memory::Here;
use crate::tile::memory::target::Targets;
use crate::tile::task::Task;
use crate::tile::test::hiz::Hiz;
use ash::vk;
use counters::Event;
use machine::host::DeviceHost;
use machine::shared::Shared;
use reference::Counts;
use scene::{Case, Content, Inputs, SIDE, Sample};
use shader::ir::Input;
use std::sync::Arc;
use vk::CompareOp as C;

const ORIGIN: [i32; 2] = [128, 64];
const AREA: Rect = Rect { x0: 0, y0: 0, x1: 256, y1: 256 };

/// Every path: what is tested and when, what waits, how many samples, which inputs.
fn cases() -> Vec<Case> {
    let base = Case {
        format: vk::Format::R32G32B32A32_SFLOAT,
        samples: 1,
        lanes: 256,
        inputs: Inputs::Varyings,
        perspective: true,
        depth16: false,
        depth: None,
        stencil: false,
        blend: false,
        per_sample: false,
        alpha_to_coverage: false,
        alpha_to_one: false,
        depth_out: None,
        mask_out: None,
        counted: true,
        observed: true,
    };
    let less = Some((C::LESS, true));
    let rgba8 = vk::Format::R8G8B8A8_UNORM;
    let mut all = vec![];
    // Nothing is tested: replaced, the last first; added to, in their order.
    for lanes in [64, 128, 256] {
        all.push(Case { format: rgba8, lanes, ..base });
        all.push(Case { blend: true, lanes, inputs: Inputs::OfPlanes, ..base });
    }
    all.push(Case { format: vk::Format::B8G8R8A8_UNORM, inputs: Inputs::Others, perspective: false, ..base });
    all.push(Case { format: vk::Format::R16G16B16A16_SFLOAT, blend: true, alpha_to_one: true, ..base });
    // Depth alone: replaced, which waits; added to, which does not. Of one sample and of four, of others in the general way.
    for samples in [1, 2, 4, 8] {
        for (depth16, depth) in
            [(false, less), (true, Some((C::GREATER_OR_EQUAL, true))), (true, Some((C::EQUAL, false)))]
        {
            for blend in [false, true] {
                let inputs = if depth16 { Inputs::OfPlanes } else { Inputs::Varyings };
                all.push(Case { samples, depth, depth16, blend, inputs, ..base });
            }
        }
        all.push(Case { samples, format: rgba8, depth: less, observed: false, ..base });
        all.push(Case { samples, stencil: true, depth: Some((C::LESS_OR_EQUAL, true)), ..base });
        // After shading.
        let (mask_out, depth_out) = (Some(Input::Layer), Some(Input::Varying(1)));
        all.push(Case { samples, mask_out, depth: less, inputs: Inputs::Others, ..base });
        all.push(Case { samples, depth_out, depth: Some((C::GREATER, true)), depth16: true, ..base });
        all.push(Case { samples, stencil: true, depth_out, depth: less, mask_out, blend: true, ..base });
        all.push(Case { samples, alpha_to_coverage: true, format: rgba8, ..base });
        all.push(Case { samples, per_sample: true, blend: true, depth: less, ..base });
        // No tests, several samples.
        all.push(Case { samples, blend: samples == 4, inputs: Inputs::OfPlanes, ..base });
        all.push(Case { samples, format: rgba8, inputs: Inputs::Others, ..base });
    }
    all
}

/// What a tile buffer holds.
///
/// # Safety
/// It is laid out by the targets.
unsafe fn content(targets: &Targets, tile: *mut u8) -> Content {
    let [color, depth] = [&targets.list[0], &targets.list[1]];
    let (c, d, s) = (color.color.unwrap(), depth.depth.unwrap(), depth.stencil.unwrap());
    let mut samples = vec![[Sample::default(); 16]; SIDE * SIDE];
    for (n, of) in samples.iter_mut().enumerate() {
        let at = pixel(n % SIDE, n / SIDE);
        for (k, of) in of[..c.samples as usize].iter_mut().enumerate() {
            // SAFETY: pixels of the planes.
            unsafe {
                let own = c.sample(tile, c.sample_in(tile, k as u32, at / 16));
                own.add(at * c.bytes).copy_to(of.color.as_mut_ptr(), c.bytes);
                of.depth = *d.sample(tile, k as u32).cast::<f32>().add(at);
                of.stencil = *s.sample(tile, k as u32).add(at);
            }
        }
    }
    Content { samples }
}

/// Draws, one after the other, each drawn by the kernels of a level and by the reference.
fn compare(shared: &Shared, level: simd::Level, case: &Case, seed: u32) {
    let mut state = seed;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) % below
    };
    let targets = case.targets(AREA);
    let scratches = Scratches::default();
    let mut scratch = scratches.take();
    scratch.tile.reserve(targets.bytes + 64);
    let here = Here { level, tile: scratch.tile.ptr(), layer: 0, origin: ORIGIN };
    let whole = Rect { x0: 0, y0: 0, x1: TILE, y1: TILE };
    let mut hiz = Hiz::default();
    let clear =
        case.depth.map_or(0.5, |(op, _)| if op == C::LESS || op == C::LESS_OR_EQUAL { 0.9 } else { 0.2 });
    for p in targets.list.iter().flat_map(|t| t.planes()) {
        // SAFETY: a tile of these planes.
        unsafe { p.clear_rect(here.tile, &whole, &p.encode_clear([0.25f32.to_bits(); 4], clear, 3)) };
    }
    if case.depth.is_some() {
        let z = crate::tile::memory::plane::quantise(clear, case.depth_scale());
        hiz.reset(Some(1), z, z);
    }
    // SAFETY: as above.
    let mut want = unsafe { content(&targets, here.tile) };
    let mut counted = Counts::default();
    let mut ops = vec![];
    let mut entries = vec![];
    for draw in 0..3 {
        let n = [1, 30, 7][(draw + seed as usize) % 3];
        let s = case.state(AREA, &mut next);
        let (batch, list) = scene::batch(n, case, ORIGIN, &mut next);
        let own = reference::draw(case, &s, &batch, ORIGIN, &mut want);
        counted.quads += own.quads;
        counted.partial += own.partial;
        counted.passed += own.passed;
        ops.push(Step { subpass: 0, cell: 0, op: Op::Draw(case.item(&s, &targets, batch)) });
        entries.push(list);
    }
    let list: Vec<(usize, &[u32])> = entries.iter().enumerate().map(|(n, e)| (n, &e[..])).collect();
    let host = DeviceHost::at(shared, 0);
    let mut worker = shared.worker();
    // SAFETY: the scratch has room for a tile of the targets, which nobody else uses.
    let mut task =
        unsafe { Task::new(&targets, &here, &mut scratch, &mut hiz, &mut worker, &host, shared.arena()) };
    let (mut draws, mut waited) = (DrawCounts::default(), TileCounts::default());
    let ok = "no program stops";
    let hidden = hidden::find(level, task.cover, task.covered, &ops, &list, ORIGIN);
    for &(n, entries) in &list {
        let Op::Draw(item) = &ops[n].op else { continue };
        if item.plan.deferred {
            waited += &task.defer(n, item, entries).expect(ok);
            continue;
        }
        task.show_all().expect(ok);
        let hidden = hidden.as_ref().map_or(&[][..], |h| h.of(n));
        task.draw(item, entries, hidden, &mut draws).expect(ok);
    }
    task.show_all().expect(ok);
    for s in task.shown.drain(..) {
        waited += &s.counts;
    }
    // SAFETY: as above.
    let got = unsafe { content(&targets, here.tile) };
    let wrong = got.samples.iter().zip(&want.samples).enumerate().find(|(_, (got, want))| {
        let samples = ..case.samples as usize;
        got[samples] != want[samples]
    });
    if let Some((n, (got, want))) = wrong {
        let samples = ..case.samples as usize;
        let at = [n % SIDE, n / SIDE];
        panic!("{case:?}, seed {seed}, {level:?}, pixel {at:?}\n{:?}\n{:?}", &got[samples], &want[samples]);
    }
    let c = draws.plain();
    let sum = |event, of| c[event] + waited[of];
    assert_eq!(sum(Event::SamplesPassed, InTile::Passed), counted.passed, "{case:?}, seed {seed}");
    if case.observed && shader::cost::COUNTED {
        let quads = sum(Event::QuadsRasterised, InTile::Quads);
        let partial = sum(Event::QuadsPartial, InTile::Partial);
        assert_eq!([quads, partial], [counted.quads, counted.partial], "{case:?}, seed {seed}");
    }
}

/// Random draws of every kind.
pub(crate) fn tiles_are_drawn_pixel_by_pixel(level: simd::Level) {
    let shared = Shared::new(Arc::new(|m: &str| panic!("{m}")), true).unwrap();
    for (i, case) in cases().iter().enumerate() {
        for seed in 0..1 {
            compare(&shared, level, case, seed * 1000 + i as u32);
        }
    }
}
