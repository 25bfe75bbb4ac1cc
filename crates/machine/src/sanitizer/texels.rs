//! Accesses of sanitised shaders to texels: those that do not exist, data races, and texels that nothing has written.

use super::{DERIVATIVE, FOUND, Lane, Sanitizer, missing_of_quads, order, race, told_as, what};
use crate::image_op;
use sanitize::{Access, Invocation, Kind, Texel, Told, What};
use shader::bytecode::ImageCode;
use shader::ir::{Checked, Dim, ImageOp, ProbeOp, Stage};
use std::sync::atomic::Ordering::Relaxed;
use texel::memory::poison;
use texel::sample::{BufferView, ImageView, lanes, texel_addresses};
use wave::{ImageProbe, ImageWarp};

/// What a descriptor names.
enum View<'a> {
    Buffer(&'a BufferView),
    Image(&'a ImageView),
}

impl View<'_> {
    /// Texels along each coordinate that an operation has.
    fn extent(&self, code: &ImageCode) -> Vec<u32> {
        match self {
            View::Buffer(v) => vec![v.len],
            View::Image(v) => {
                let size = v.levels.first().map_or([0; 3], |l| l.size);
                let dims = code.coords.len().saturating_sub(code.arrayed as usize);
                let mut all: Vec<u32> = size.into_iter().take(dims).collect();
                all.resize(code.coords.len(), v.layers);
                all
            }
        }
    }

    fn bytes(&self) -> u32 {
        match self {
            View::Buffer(v) => v.format.block_bytes,
            View::Image(v) => v.format.block_bytes,
        }
    }
}

impl Sanitizer {
    /// Hears what lanes are about to do to texels, and says in the first result where nothing has written these.
    ///
    /// # Safety
    /// `warp.view` and `warp.sampler` are null or what descriptor writes stored.
    pub unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp, probe: &ImageProbe) {
        warp.out[0] = [0; 16];
        let ImageOp::Check(checked) = code.op else { return };
        let (site, seen) = (probe.site(), warp.mask & probe.alive);
        FOUND.accesses.fetch_add(seen.count_ones() as u64, Relaxed);
        let filtered = matches!(checked, Checked::Sample | Checked::Gather);
        if warp.view == 0 || filtered && warp.sampler == 0 {
            let missing = if warp.view == 0 { "image" } else { "sampler" };
            for l in lanes(seen) {
                let lane = Lane { texel: None, ..self.lane(probe, warp, l) };
                let message = format!("a descriptor that names no {missing} is used");
                self.found(probe.program, site, Kind::NullDescriptor, message, &lane, None);
            }
            return;
        }
        if filtered {
            // SAFETY: not null: descriptor writes stored such a view.
            let levels = unsafe { (*(warp.view as *const ImageView)).levels.len() };
            let implicit = code.lod.is_none() && code.grad.is_empty() && checked == Checked::Sample;
            if implicit
                && levels > 1
                && probe.program.stage == Stage::Fragment
                && missing_of_quads(probe.executing, seen, probe.alive) != 0
            {
                let by = Invocation { group: 0, local: 0 };
                self.diverges(probe.program, site, DERIVATIVE, by, None);
            }
            if poison::wanted() {
                // SAFETY: the caller's; neither is null.
                unsafe { undefined_samples(code, warp) };
            }
            return;
        }
        // SAFETY: not null: descriptor writes stored such a view.
        let view = unsafe {
            match code.dim {
                Dim::Buffer => View::Buffer(&*(warp.view as *const BufferView)),
                _ => View::Image(&*(warp.view as *const ImageView)),
            }
        };
        let coords = if checked == Checked::Fetch { image_op::fetch_coords(code, warp) } else { warp.coords };
        let places: [u64; 16] = match view {
            View::Buffer(v) => std::array::from_fn(|l| match warp.mask >> l & 1 {
                1 => v.address(coords[0][l]).map_or(0, |p| p as u64),
                _ => 0,
            }),
            View::Image(v) => {
                let lod = (!code.lod.is_none() && checked == Checked::Fetch).then_some(&warp.lod);
                let sample = code.multisampled.then_some(&warp.sample);
                texel_addresses(v, &coords, lod, sample, warp.mask).map(|p| p as u64)
            }
        };
        let there = lanes(warp.mask).filter(|l| places[*l] != 0).fold(0, |m, l| m | 1u16 << l);
        let texel = |l: usize| Texel {
            at: coords.iter().take(code.coords.len()).map(|c| c[l] as i32 as i64).collect(),
            of: view.extent(code),
        };
        for l in lanes(seen & !there) {
            let done = if site.op == ProbeOp::Write { "it is dropped" } else { "it gives zeros" };
            let message = format!("{} of a texel that does not exist ({done})", what(site.op));
            let lane = Lane { texel: Some(texel(l)), ..self.lane(probe, warp, l) };
            self.found(probe.program, site, Kind::OutOfBounds, message, &lane, None);
        }
        let bytes = view.bytes();
        if poison::wanted() && checked != Checked::Write {
            for l in lanes(there) {
                // SAFETY: a texel that is there.
                warp.out[0][l] = unsafe { poison::holds(places[l] as *const u8, bytes as u64) } as u32;
            }
        }
        let compared = seen & there;
        if compared == 0 || checked == Checked::Fetch || !self.writes_of(probe.program).texels {
            return;
        }
        let who = self.who(probe.program, probe.warp, &warp.data[0], &warp.data[1], compared);
        let done = match site.op {
            ProbeOp::Read => What::Read,
            ProbeOp::Write => What::Write,
            _ => What::Atomic,
        };
        let access = Access {
            what: done,
            group: who.group,
            subgroup: who.subgroup,
            shared: false,
            bytes,
            site: probe.site,
            lanes: compared,
            locals: &who.locals,
            addresses: &places,
            values: site.tells.then_some(&warp.data[2]),
            order: order(site),
        };
        let mut races = self.races.lock();
        races.step();
        let compute = probe.program.stage.has_workgroups();
        races.access(&access, |l, told, conflict| {
            if told == Told::Dead && !compute {
                return;
            }
            let (kind, message) = told_as(told, || race(probe.program, &conflict, done, who.group));
            let lane = Lane { texel: Some(texel(l)), ..self.lane(probe, warp, l) };
            self.found(probe.program, site, kind, message, &lane, Some(conflict));
        });
    }

    /// A lane of a check.
    fn lane(&self, probe: &ImageProbe, warp: &ImageWarp, l: usize) -> Lane {
        let who = self.who(probe.program, probe.warp, &warp.data[0], &warp.data[1], 1 << l);
        Lane { by: who.lane(l), offset: 0, size: None, texel: None }
    }
}

/// Where nothing has written any line of the texels that are filtered.
///
/// # Safety
/// As [`Sanitizer::image`]; view and sampler are not null.
unsafe fn undefined_samples(code: &ImageCode, warp: &mut ImageWarp) {
    let mut touched = vec![];
    let all = warp.mask;
    // SAFETY: the caller's.
    unsafe { image_op::lines(code, warp, &mut touched) };
    // SAFETY: lines of the image's memory, which is made of pages.
    let is = |line: &u64| unsafe { poison::holds((line << 6) as *const u8, 64) };
    if !touched.iter().any(is) {
        return;
    }
    for l in lanes(all) {
        touched.clear();
        warp.mask = 1 << l;
        // SAFETY: the caller's.
        unsafe { image_op::lines(code, warp, &mut touched) };
        warp.out[0][l] = (!touched.is_empty() && touched.iter().all(is)) as u32;
    }
    warp.mask = all;
}
