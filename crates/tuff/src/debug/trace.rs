//! A warp's records, decoded: what each instruction did, in order.

use super::module::Module;
use shader::ir::Stage;
use shader::notes::{File, Frame, Note, Warp, What, begin};
use std::collections::HashMap;

/// Lanes of a warp.
pub const LANES: usize = 16;

/// An instruction that lanes of the warp have executed together.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Index of its note.
    pub note: u32,
    pub lanes: u16,
    /// Lanes of these that are helpers.
    pub helpers: u16,
    /// Where its first record begins.
    record: u32,
    /// Records.
    count: u32,
}

impl Step {
    pub fn has(&self, lane: usize) -> bool {
        self.lanes >> lane & 1 == 1
    }
}

/// Which invocation a lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invocation {
    /// Column, row; whether it is a helper from the beginning.
    Pixel([u32; 2], bool),
    Vertex {
        vertex: u32,
        instance: u32,
    },
    /// Of all: GlobalInvocationId.
    Thread([u32; 3]),
}

impl std::fmt::Display for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Invocation::Pixel([x, y], false) => write!(f, "pixel {x},{y}"),
            Invocation::Pixel([x, y], true) => write!(f, "helper at {x},{y}"),
            Invocation::Vertex { vertex, instance: 0 } => write!(f, "vertex {vertex}"),
            Invocation::Vertex { vertex, instance } => write!(f, "vertex {vertex}, instance {instance}"),
            Invocation::Thread([x, y, z]) => write!(f, "thread {x},{y},{z}"),
        }
    }
}

pub struct Trace {
    pub module: Module,
    pub stage: Stage,
    pub entry: String,
    pub frames: Vec<Frame>,
    pub notes: Vec<Note>,
    records: Vec<u32>,
    pub steps: Vec<Step>,
    /// Which invocation each lane is; `None`: the warp has no such lane.
    pub lanes: [Option<Invocation>; LANES],
    /// The lane that was asked for.
    pub lane: usize,
    /// Records that are missing at the end.
    pub lost: u64,
    /// Steps of an instruction, by frame and word offset, ascending.
    sites: HashMap<(u32, u32), Vec<u32>>,
    /// Steps that enter a frame.
    enters: HashMap<u32, Vec<u32>>,
}

impl Trace {
    /// # Errors
    /// The warp's shader is no module, or the records are not its.
    pub fn new(file: &File, warp: &Warp) -> Result<Trace, String> {
        let of = file.modules.get(warp.module as usize).ok_or("a shader that is not there")?;
        let module = Module::new(&of.words, &of.spec)?;
        let mut trace = Trace {
            module,
            stage: of.stage,
            entry: of.entry.clone(),
            frames: of.frames.clone(),
            notes: of.notes.clone(),
            records: warp.records.clone(),
            steps: vec![],
            lanes: [None; LANES],
            lane: warp.lanes.trailing_zeros().min(15) as usize,
            lost: warp.lost,
            sites: HashMap::new(),
            enters: HashMap::new(),
        };
        if let Some(n) =
            trace.notes.iter().find(|n| n.what != What::Begin && !trace.module.places.contains_key(&n.at))
        {
            return Err(format!("a note of word {}, which is no instruction", n.at));
        }
        let calls: HashMap<(u32, u32), u32> =
            trace.frames.iter().zip(0..).skip(1).map(|(f, k)| ((f.parent, f.at), k)).collect();
        let mut at = 0;
        while at < trace.records.len() {
            at = trace.read(at, of.workgroup, &calls).ok_or(format!("the record at word {at} is none"))?;
        }
        Ok(trace)
    }

    /// Takes the record at a word; where the next one begins.
    fn read(&mut self, at: usize, workgroup: [u32; 3], calls: &HashMap<(u32, u32), u32>) -> Option<usize> {
        let (index, lanes, helpers, words) = self.record(at)?;
        let note = self.notes.get(index as usize)?;
        let end = at + 2 + words;
        if end > self.records.len() || lanes == 0 || helpers & !lanes != 0 {
            return None;
        }
        let (frame, place, what) = (note.frame, note.at, note.what);
        if what == What::Begin {
            self.begin(at, lanes, workgroup)?;
            return Some(end);
        }
        if note.first != 0 {
            // More words of the instruction before.
            let last = self.steps.last_mut()?;
            let before = &self.notes[last.note as usize];
            if (before.frame, before.at, last.lanes) != (frame, place, lanes) {
                return None;
            }
            last.count += 1;
            return Some(end);
        }
        let step = self.steps.len() as u32;
        self.steps.push(Step { note: index, lanes, helpers, record: at as u32, count: 1 });
        match what {
            // A call's result is what it leaves.
            What::Enter => self.enters.entry(*calls.get(&(frame, place))?).or_default().push(step),
            _ => self.sites.entry((frame, place)).or_default().push(step),
        }
        Some(end)
    }

    /// Note, lanes, helpers and number of words of the record at a word.
    fn record(&self, at: usize) -> Option<(u32, u16, u16, usize)> {
        let [note, lanes] = *self.records.get(at..)?.first_chunk()?;
        let index = note & !Warp::SAME;
        let each = self.notes.get(index as usize)?.words();
        let times = if note & Warp::SAME != 0 { 1 } else { (lanes & 0xFFFF).count_ones() as usize };
        Some((index, lanes as u16, (lanes >> 16) as u16, each * times))
    }

    /// A lane's words of the record at a word.
    fn words_at(&self, at: usize, lane: usize) -> Vec<u32> {
        let Some((_, lanes, _, words)) = self.record(at) else { return vec![] };
        let all = self.records.get(at + 2..at + 2 + words).unwrap_or(&[]);
        if self.records[at] & Warp::SAME != 0 {
            return all.to_vec();
        }
        let place = (lanes & ((1u32 << lane) as u16).wrapping_sub(1)).count_ones() as usize;
        let step = lanes.count_ones().max(1) as usize;
        all.iter().skip(place).step_by(step).copied().collect()
    }

    fn begin(&mut self, at: usize, lanes: u16, workgroup: [u32; 3]) -> Option<()> {
        for lane in (0..LANES).filter(|l| lanes >> l & 1 == 1) {
            let w = self.words_at(at, lane);
            self.lanes[lane] = Some(match w.len() {
                begin::PIXEL => Invocation::Pixel([w[0], w[1]], w[2] != 0),
                begin::VERTEX => Invocation::Vertex { vertex: w[0], instance: w[1] },
                begin::THREAD => Invocation::Thread(std::array::from_fn(|k| {
                    w[k].wrapping_mul(workgroup[k]).wrapping_add(w[k + 3])
                })),
                _ => return None,
            });
        }
        Some(())
    }

    pub fn note(&self, step: usize) -> &Note {
        &self.notes[self.steps[step].note as usize]
    }

    /// The words of a step's result, of a lane that has executed it.
    pub fn words(&self, step: usize, lane: usize) -> Vec<u32> {
        let Step { record, count, .. } = self.steps[step];
        let mut words = vec![];
        let mut at = record as usize;
        for _ in 0..count {
            words.extend(self.words_at(at, lane));
            at += 2 + self.record(at).map_or(0, |r| r.3);
        }
        words
    }

    /// The last step before `end` in which a lane has executed the instruction at a word in a frame, since that frame began.
    pub fn last(&self, frame: u32, at: u32, lane: usize, end: usize) -> Option<usize> {
        let from = self.entered(frame, lane, end)?;
        let step = self.find(self.sites.get(&(frame, at))?, lane, end)?;
        (step >= from).then_some(step)
    }

    /// The instructions that have been executed, by frame and word offset.
    pub fn executed(&self) -> impl Iterator<Item = (u32, u32)> {
        self.sites.keys().copied()
    }

    /// When a lane entered a frame the last time before `end`.
    pub fn entered(&self, frame: u32, lane: usize, end: usize) -> Option<usize> {
        if frame == 0 { Some(0) } else { self.find(self.enters.get(&frame)?, lane, end) }
    }

    fn find(&self, all: &[u32], lane: usize, end: usize) -> Option<usize> {
        let n = all.partition_point(|s| (*s as usize) < end);
        all[..n].iter().rev().map(|s| *s as usize).find(|s| self.steps[*s].has(lane))
    }

    /// A frame's calls, from it outwards: each frame with the offset of the instruction that is under way in it.
    pub fn stack(&self, mut frame: u32, mut at: u32) -> Vec<(u32, u32)> {
        let mut all = vec![(frame, at)];
        while frame != 0 {
            (frame, at) = (self.frames[frame as usize].parent, self.frames[frame as usize].at);
            all.push((frame, at));
        }
        all
    }

    pub fn depth(&self, frame: u32) -> usize {
        self.stack(frame, 0).len()
    }
}
