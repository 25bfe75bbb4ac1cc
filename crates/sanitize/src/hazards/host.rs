//! What the host writes to mapped memory that commands use, before it has waited for them.
//!
//! The bytes of mapped memory that a submission touched are kept when it ends ([`HostWrites::rests`]). Between that and the next
//! submission's begin nothing runs on the device. So if the bytes are others when the device next works ([`HostWrites::works`]), or when
//! the host has waited for them ([`HostWrites::saw`]), the host has written them. What changes while a submission runs may be its own
//! work, and is kept as it is afterwards.

use super::state::{Access, Conflict, Hazard, Lacks};
use std::collections::BTreeMap;
use std::ops::Range;

/// More bytes, or stretches of them, than this are not kept.
const MOST_BYTES: usize = 64 << 20;
const MOST_STRETCHES: usize = 1 << 16;

/// Bytes as a command left or read them.
struct Kept {
    by: Access,
    bytes: Vec<u8>,
}

/// Of a device.
#[derive(Default)]
pub struct HostWrites {
    /// Memory that the host can write: first byte and end.
    mapped: BTreeMap<u64, u64>,
    /// What the submission under way touched.
    fresh: Vec<(Access, Vec<Range<u64>>)>,
    /// By first byte; no two have a byte in common.
    kept: BTreeMap<u64, Kept>,
    /// Bytes kept.
    held: usize,
    /// Submissions under way.
    running: u32,
    /// The host may learn of ends in ways that are not followed.
    blind: bool,
}

/// Reads bytes of memory.
pub type Read<'a> = &'a dyn Fn(Range<u64>) -> Vec<u8>;
/// Is told of each stretch of bytes that the host has written.
pub type Found<'a> = &'a mut dyn FnMut(Range<u64>, Conflict);

impl HostWrites {
    /// The host can write this memory from now on.
    pub fn maps(&mut self, range: Range<u64>) {
        self.mapped.insert(range.start, range.end);
    }

    /// The memory is no more, or is another's.
    pub fn forget(&mut self, range: &Range<u64>) {
        self.mapped.retain(|start, end| *end <= range.start || *start >= range.end);
        for (_, all) in &mut self.fresh {
            all.retain(|r| r.end <= range.start || r.start >= range.end);
        }
        self.cut(range);
    }

    /// What is kept can't be judged: the host may know that all of it has ended.
    pub fn forget_all(&mut self) {
        self.kept.clear();
        self.held = 0;
    }

    /// The host can wait in ways that are not followed: nothing is told from now on.
    pub fn blind(&mut self) {
        self.blind = true;
        self.fresh.clear();
        self.forget_all();
    }

    /// A command of the submission under way touches these bytes.
    pub fn touched(&mut self, by: &Access, bytes: &[Range<u64>]) {
        if self.blind || self.mapped.is_empty() {
            return;
        }
        // A draw may have a stretch for each vertex.
        let mapped = |r: &Range<u64>| {
            let (start, end) = self.mapped.range(..r.end).next_back().filter(|(_, end)| **end > r.start)?;
            Some(r.start.max(*start)..r.end.min(*end))
        };
        let all: Vec<Range<u64>> = bytes.iter().filter_map(mapped).collect();
        if !all.is_empty() {
            self.fresh.push((by.clone(), all));
        }
    }

    /// A submission begins.
    pub fn works(&mut self, read: Read, found: Found) {
        if self.running == 0 {
            self.compare(|_| true, read, found);
        }
        self.running += 1;
    }

    /// A submission has ended; nobody knows it yet.
    pub fn rests(&mut self, read: Read) {
        self.running = self.running.saturating_sub(1);
        for (start, k) in &mut self.kept {
            k.bytes = read(*start..*start + k.bytes.len() as u64);
        }
        let fresh = std::mem::take(&mut self.fresh).into_iter();
        for (by, range) in fresh.flat_map(|(by, all)| all.into_iter().map(move |range| (by.clone(), range))) {
            self.cut(&range);
            let bytes = (range.end - range.start) as usize;
            if self.held + bytes <= MOST_BYTES && self.kept.len() < MOST_STRETCHES {
                self.held += bytes;
                self.kept.insert(range.start, Kept { by, bytes: read(range) });
            }
        }
    }

    /// The host has waited for something that has this tag. What came before it on other queues is taken to have ended too: semaphores
    /// may order it.
    pub fn saw(&mut self, tag: u64, read: Read, found: Found) {
        let ended = |by: &Access| by.who.tag <= tag;
        if self.running == 0 {
            self.compare(ended, read, found);
        }
        let held = &mut self.held;
        self.kept.retain(|_, k| {
            let stays = !ended(&k.by);
            *held -= if stays { 0 } else { k.bytes.len() };
            stays
        });
    }

    /// Tells of what has changed, once.
    fn compare(&mut self, of: impl Fn(&Access) -> bool, read: Read, found: Found) {
        for (start, k) in self.kept.iter_mut().filter(|(_, k)| of(&k.by)) {
            let now = read(*start..*start + k.bytes.len() as u64);
            if now == k.bytes {
                continue;
            }
            let mut at = 0;
            while at < now.len() {
                let Some(from) = (at..now.len()).find(|i| now[*i] != k.bytes[*i]) else { break };
                at = (from..now.len()).find(|i| now[*i] == k.bytes[*i]).unwrap_or(now.len());
                let hazard = match k.by.writes() {
                    true => Hazard::WriteAfterWrite,
                    false => Hazard::WriteAfterRead,
                };
                let conflict = Conflict { hazard, earlier: k.by.clone(), lacks: Lacks::HostWait };
                found(start + from as u64..start + at as u64, conflict);
            }
            k.bytes = now;
        }
    }

    /// Nothing is kept of these bytes afterwards.
    fn cut(&mut self, range: &Range<u64>) {
        let first = self.kept.range(..range.start).next_back().map_or(range.start, |(s, _)| *s);
        let touched: Vec<u64> = self.kept.range(first..range.end).map(|(s, _)| *s).collect();
        for start in touched {
            let end = start + self.kept.get(&start).map_or(0, |k| k.bytes.len() as u64);
            if end <= range.start {
                continue;
            }
            let Some(mut k) = self.kept.remove(&start) else { continue };
            self.held -= k.bytes.len();
            if end > range.end {
                let bytes = k.bytes.split_off((range.end - start) as usize);
                self.held += bytes.len();
                self.kept.insert(range.end, Kept { by: k.by.clone(), bytes });
            }
            if start < range.start {
                k.bytes.truncate((range.start - start) as usize);
                self.held += k.bytes.len();
                self.kept.insert(start, k);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Contents, Line, What, Who, access, stage};
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;

    /// A memory of 64 bytes from address 100, mapped; commands have tags of their own.
    struct World {
        writes: HostWrites,
        memory: RefCell<Vec<u8>>,
        tag: u64,
    }

    impl World {
        fn new() -> World {
            let mut writes = HostWrites::default();
            writes.maps(100..164);
            World { writes, memory: vec![0; 64].into(), tag: 0 }
        }

        fn with<R>(
            &mut self,
            f: impl FnOnce(&mut HostWrites, Read, Found) -> R,
        ) -> Vec<(Range<u64>, Hazard)> {
            let mut found = vec![];
            let memory = &self.memory;
            let read = |r: Range<u64>| memory.borrow()[r.start as usize - 100..r.end as usize - 100].to_vec();
            f(&mut self.writes, &read, &mut |r, c| found.push((r, c.hazard)));
            found
        }

        /// A submission of one command; what was found when it began. `own`: what it does to memory meanwhile.
        fn submits(
            &mut self,
            what: What,
            bytes: Range<u64>,
            own: impl FnOnce(&mut Vec<u8>),
        ) -> Vec<(Range<u64>, Hazard)> {
            self.tag += 1;
            let by = Access {
                who: Arc::new(Who { tag: self.tag, place: String::new(), part: String::new() }),
                line: Line::Queue(0),
                stage: stage::COPY,
                access: access::TRANSFER_READ,
                what,
                attachment: false,
                contents: Contents::Values,
                fences: Default::default(),
            };
            let found = self.with(|w, read, found| w.works(read, found));
            own(&mut self.memory.borrow_mut());
            self.writes.touched(&by, &[bytes]);
            self.with(|w, read, _| w.rests(read));
            found
        }

        fn host(&mut self, at: u64) {
            self.memory.borrow_mut()[at as usize - 100] += 1;
        }

        fn waits(&mut self, tag: u64) -> Vec<(Range<u64>, Hazard)> {
            self.with(|w, read, found| w.saw(tag, read, found))
        }
    }

    #[test]
    fn only_the_bytes_that_a_command_uses_and_only_before_its_end_is_known() {
        use Hazard::{WriteAfterRead as War, WriteAfterWrite as Waw};
        let mut w = World::new();
        w.submits(What::Read, 110..120, |_| ());
        w.host(109);
        w.host(120);
        assert_eq!(w.waits(1), []);
        w.host(115);
        assert_eq!(w.waits(1), [], "it is known");
        w.submits(What::Read, 110..120, |_| ());
        (112..114).for_each(|at| w.host(at));
        w.host(119);
        assert_eq!(w.waits(2), [(112..114, War), (119..120, War)]);
        w.submits(What::Write, 110..120, |m| m[12] = 9);
        w.host(112);
        assert_eq!(w.submits(What::Read, 130..131, |_| ()), [(112..113, Waw)]);
        assert_eq!(w.waits(4), [], "it has been told");
        // Memory that the host has no address of.
        w.submits(What::Read, 10..20, |_| ());
        assert!(w.writes.kept.is_empty());
    }

    #[test]
    fn what_the_device_writes_is_its_own() {
        let mut w = World::new();
        w.submits(What::Read, 110..120, |_| ());
        // Whether or not its command says so.
        assert_eq!(w.submits(What::Read, 130..131, |m| m[15] = 3), []);
        assert_eq!(w.waits(2), []);
        // The host's writes are told of by the later of two commands that use the bytes.
        w.submits(What::Read, 110..120, |_| ());
        w.submits(What::Read, 114..116, |_| ());
        (111..119).for_each(|at| w.host(at));
        assert_eq!(w.waits(3), [(111..114, Hazard::WriteAfterRead), (116..119, Hazard::WriteAfterRead)]);
        assert_eq!(w.waits(4), [(114..116, Hazard::WriteAfterRead)]);
    }

    #[test]
    fn memory_that_is_no_more_is_not_looked_at() {
        let mut w = World::new();
        w.submits(What::Read, 110..120, |_| ());
        w.submits(What::Read, 140..150, |_| ());
        w.writes.forget(&(100..164));
        assert_eq!((w.writes.held, w.writes.kept.len(), w.writes.mapped.len()), (0, 0, 0));
        let mut w = World::new();
        w.submits(What::Read, 110..120, |_| ());
        w.writes.blind();
        w.host(115);
        assert_eq!(w.waits(1), []);
        w.submits(What::Read, 110..120, |_| ());
        assert!(w.writes.kept.is_empty());
    }
}
