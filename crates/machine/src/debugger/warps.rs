//! Warps of which notes tell: from where they begin to where the next begins in their place.

use super::{CURRENT, SHADING, TRACE, Trace, aim};
use shader::ir::Stage;
use shader::notes::{Warp, What};
use wave::NoteWave;

/// Warps of a wave.
const WARPS: usize = 32;

/// Warps that this thread runs: by place in the wave, their index among what is kept.
pub(super) struct Open([Option<usize>; WARPS]);

impl Default for Open {
    fn default() -> Open {
        Open([None; WARPS])
    }
}

/// Records of all warps.
#[derive(Default)]
pub(super) struct Kept {
    pub warps: Vec<Warp>,
    /// Words of all records.
    words: usize,
    /// Words that the last warp may come to: half of what was left when it began, so that one that never ends leaves room for others.
    room: usize,
}

impl Kept {
    fn limit() -> usize {
        (aim().limit as usize) << 18
    }

    fn begin(&mut self, warp: Warp) -> usize {
        self.room = self.words + (Kept::limit() - self.words.min(Kept::limit())) / 2;
        self.warps.push(warp);
        self.warps.len() - 1
    }

    pub fn problem(&self) -> Option<String> {
        let lost: u64 = self.warps.iter().map(|w| w.lost).sum();
        let limit = aim().limit;
        (lost > 0)
            .then(|| format!("{lost} steps were not recorded: they take more than the limit of {limit} MiB"))
    }

    fn record(&mut self, warp: usize, wave: &NoteWave, at: usize, lanes: u16, helpers: u16) {
        let Some(to) = self.warps.get_mut(warp) else { return };
        let words = wave.note().words();
        if self.words + 2 + words * 16 > self.room {
            to.lost += 1;
            return;
        }
        let first = to.records.len();
        to.records.extend([wave.note, lanes as u32 | (helpers as u32) << 16]);
        let leader = lanes.trailing_zeros() as usize & 15;
        let executing = || (0..16).filter(move |l| lanes >> l & 1 == 1);
        let mut rows = [[0u32; 16]; shader::notes::MAX_WORDS];
        for (k, row) in rows.iter_mut().enumerate().take(words) {
            *row = wave.word(k, at);
        }
        let rows = &rows[..words];
        if rows.iter().all(|row| executing().all(|l| row[l] == row[leader])) {
            to.records[first] |= Warp::SAME;
            to.records.extend(rows.iter().map(|row| row[leader]));
        } else {
            for row in rows {
                to.records.extend(executing().map(|l| row[l]));
            }
        }
        self.words += to.records.len() - first;
    }
}

/// A wave has executed an instruction on this thread.
pub(super) fn note(open: &mut Open, wave: &NoteWave) {
    let begins = wave.note().what == What::Begin;
    if !begins && open.0.iter().all(Option::is_none) {
        return;
    }
    let mut trace = TRACE.lock();
    if begins {
        *open = Open::default();
    }
    for (at, lanes, helpers) in wave.warps() {
        if begins {
            open.0[at % WARPS] = trace.begin(wave, wave.aimed(at));
        }
        if let Some(warp) = open.0[at % WARPS] {
            trace.kept.record(warp, wave, at, lanes, helpers);
        }
    }
}

impl Trace {
    fn begin(&mut self, wave: &NoteWave, lanes: u16) -> Option<usize> {
        let of = if wave.program.stage == Stage::Fragment { &SHADING } else { &CURRENT };
        let workload = of.with_borrow(|w| w.clone());
        if !self.wants(workload.draw) {
            return None;
        }
        let module = self.module(wave.program)?;
        Some(self.kept.begin(Warp {
            module,
            frame: self.frames + 1,
            command: workload.command.clone(),
            labels: workload.labels.clone(),
            pipeline: workload.pipeline.clone(),
            draw: workload.draw,
            lanes,
            records: vec![],
            lost: 0,
        }))
    }
}
