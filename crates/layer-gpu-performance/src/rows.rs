//! From the results of a batch's queries to rows of the output.

use crate::device::{Device, Source};
use crate::output::Row;
use crate::queue::{Batch, Entry};
use crate::recorded::{Item, Recorded, Results, Work};
use ash::vk;
use std::sync::Arc;

/// The first part of a suspended pass.
struct Part {
    begin: Option<u64>,
    parts: u32,
    tag: u32,
    labels: Vec<Arc<str>>,
    reason: Option<String>,
}

struct Reader<'a> {
    device: &'a Device,
    queue: u32,
    handle: vk::Queue,
    batch: &'a Batch,
    entry: &'a Entry,
    part: Option<Part>,
    rows: Vec<Row>,
}

/// Writes the rows of a batch that has ended.
pub(crate) fn write(device: &Device, (queue, handle): (u32, vk::Queue), batch: &Batch) {
    let Some(entry) = batch.entries.first() else { return };
    let mut r = Reader { device, queue, handle, batch, entry, part: None, rows: vec![] };
    for entry in &batch.entries {
        r.entry = entry;
        let recorded = entry.recorded.clone();
        let mut at = recorded.own() as usize;
        for item in &recorded.items {
            match item {
                Item::Work(w) => r.work(&recorded, &recorded.works[*w], &entry.outer, 0, entry.lost),
                Item::Secondary { recorded: s, labels, results } => {
                    let outer = labels.within(&entry.outer);
                    let lost = match results {
                        Results::Lost(why) => Some(*why),
                        _ => entry.lost,
                    };
                    for item in &s.items {
                        let Item::Work(w) = item else { continue };
                        r.work(s, &s.works[*w], &outer, at, lost);
                    }
                    at += s.own() as usize;
                }
            }
        }
    }
    if let Some(part) = r.part.take() {
        // The specification asks for the rest in the same batch.
        device.output.unmeasured(&format!("a suspended pass without its last part (t{})", part.tag));
    }
    device.output.write(r.rows);
}

impl Reader<'_> {
    fn work(
        &mut self,
        recorded: &Arc<Recorded>,
        w: &Work,
        outer: &[Arc<str>],
        base: usize,
        lost: Option<&'static str>,
    ) {
        let region = self.entry.region.filter(|_| lost.is_none());
        let stamp = |slot| {
            let word = base + recorded.place(slot);
            region.filter(|r| r.word(word + 1) != 0).map(|r| r.word(word))
        };
        let reason = w.reason.clone().or(lost.map(String::from));
        let begin = w.begin.and_then(stamp);
        let (mut first, mut parts, mut tag, mut reason) = (begin, 1, w.tag, reason);
        let mut labels = w.labels.within(outer);
        if w.resumes {
            let part = self.part.take();
            let unknown = || Some("the first part of the pass is not known".to_string());
            (first, parts, tag, reason) = match part {
                Some(p) => {
                    labels = p.labels;
                    (p.begin, p.parts + 1, p.tag, reason.or(p.reason))
                }
                None => (None, 1, w.tag, reason.or_else(unknown)),
            };
        }
        if w.suspends {
            self.part = Some(Part { begin: first, parts, tag, labels, reason });
            return;
        }
        let d = self.device;
        let span = first.zip(w.end.and_then(stamp)).map(|(b, e)| (d.nanoseconds(b), d.ticks_between(b, e)));
        if span.is_none() && reason.is_none() {
            reason = Some("the driver gave no timestamps".into());
        }
        let views = w.views.filter(|v| v.told).map_or(vec![], |v| {
            let at =
                |slot: crate::slots::Slot, i| stamp(crate::slots::Slot { query: slot.query + i, ..slot });
            // A driver may tell the first view's alone, with zeros for the others (§ Timestamp Queries).
            let elapsed = |i| match (at(v.begin, i)?, at(v.end, i)?) {
                (_, 0) => None,
                (b, e) => Some(d.ticks_between(b, e)),
            };
            (0..v.count).map(elapsed).collect()
        });
        let (counters, missing) = match &d.source {
            Source::Channel(c) if !w.empty => c.lock().take(self.handle, self.batch.number, tag),
            Source::Queries(q) if !w.empty => {
                let word = |at| region.map(|r| r.word(base + at));
                // SAFETY: the batch has ended, and the command buffer's pools are its own until it is reset.
                let read = |slot| unsafe { q.values(d, recorded, slot, word) };
                match w.counts.filter(|_| lost.is_none()).map(read) {
                    Some(Some(values)) => (values, None),
                    Some(None) => (vec![], Some("not counted: the driver gave no results")),
                    None => (vec![], w.uncounted),
                }
            }
            _ => (vec![], None),
        };
        self.rows.push(Row {
            device: d.number,
            queue: self.queue,
            frame: self.batch.frame,
            submission: self.batch.order,
            kind: w.kind.text(),
            name: w.name.clone(),
            labels: labels.join("/"),
            commands: self.entry.name.as_deref().unwrap_or_default().to_string(),
            span,
            views,
            parts,
            counters,
            reason,
            note: self.batch.beside.or(missing),
        });
    }
}
