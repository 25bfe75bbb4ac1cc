//! Perfetto's trace packets, as far as a GPU's need: numbers of fields are those of protos/perfetto/trace in Perfetto's
//! repository, names the schema's.

use super::proto::Message;

/// The one sequence of packets that this writer is.
const SEQUENCE: u64 = 1;
/// The graphics context of all events.
const CONTEXT: u64 = 1;
const VULKAN: u64 = 2;
/// BuiltinClock: the clock of timestamps, and those that it is tied to.
const BOOTTIME: u64 = 6;
const CLOCKS: [u64; 3] = [3 /* MONOTONIC */, 5 /* MONOTONIC_RAW */, BOOTTIME];

/// TracePacket.
mod packet {
    pub const CLOCK_SNAPSHOT: u32 = 6;
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const GPU_COUNTER_EVENT: u32 = 52;
    pub const GPU_RENDER_STAGE_EVENT: u32 = 53;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    pub const FIRST_ON_SEQUENCE: u32 = 87;
}
/// Its sequence_flags.
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

/// What InternedGpuRenderStageSpecification says of a queue or stage.
#[derive(Clone, Copy, PartialEq)]
pub enum Category {
    Other = 0,
    Graphics = 1,
    Compute = 2,
}

pub struct Specification {
    pub name: &'static str,
    pub description: &'static str,
    pub category: Category,
}

/// A slice of a hardware queue.
pub struct Stage<'a> {
    pub id: u64,
    pub begin_ns: u64,
    pub duration_ns: u64,
    pub gpu: u64,
    /// Places in the specifications.
    pub queue: usize,
    pub stage: usize,
    pub submission: u64,
    pub name: &'a str,
    pub extra: Vec<(&'static str, String)>,
}

pub struct CounterSpec<'a> {
    pub name: &'a str,
    pub description: &'a str,
    /// MeasureUnit numbers.
    pub units: &'a [u64],
    /// GpuCounterGroup.
    pub group: u64,
}

/// A file, being written.
#[derive(Default)]
pub struct Trace(Message);

fn named_packet(flags: u64) -> Message {
    Message::default().uint(packet::SEQUENCE_ID, SEQUENCE).uint(packet::SEQUENCE_FLAGS, flags)
}

fn at(ns: u64) -> Message {
    named_packet(NEEDS_STATE).uint(packet::TIMESTAMP, ns)
}

impl Trace {
    pub fn bytes(self) -> Vec<u8> {
        self.0.bytes()
    }

    /// Trace.packet.
    fn add(&mut self, packet: Message) {
        self.0.add(1, packet);
    }

    /// The first packet: what later ones name by number.
    pub fn begin(&mut self, specifications: &[Specification]) {
        let mut interned = Message::default();
        // InternedData.graphics_contexts: iid, pid, api.
        interned.add(23, Message::default().uint(1, CONTEXT).uint(2, 1).uint(3, VULKAN));
        for (i, s) in specifications.iter().enumerate() {
            let text = Message::default().uint(1, i as u64 + 1).string(2, s.name).string(3, s.description);
            interned.add(24, text.uint(4, s.category as u64));
        }
        let packet = named_packet(STATE_CLEARED).uint(packet::FIRST_ON_SEQUENCE, 1);
        self.add(packet.message(packet::INTERNED_DATA, interned));
    }

    /// All clocks tell the same: there is one, the model's.
    pub fn clocks(&mut self, ns: u64) {
        let mut snapshot = Message::default();
        for clock in CLOCKS {
            snapshot.add(1, Message::default().uint(1, clock).uint(2, ns));
        }
        let packet = at(ns).message(packet::CLOCK_SNAPSHOT, snapshot.uint(2, BOOTTIME));
        self.add(packet);
    }

    pub fn stage(&mut self, s: &Stage) {
        let mut event = Message::default()
            .uint(1, s.id)
            .uint(2, s.duration_ns)
            .uint(5, CONTEXT)
            .uint(10, s.submission)
            .uint(11, s.gpu)
            .uint(13, s.queue as u64 + 1)
            .uint(14, s.stage as u64 + 1)
            .string(17, s.name);
        for (name, value) in &s.extra {
            event.add(6, Message::default().string(1, name).string(2, value));
        }
        self.add(at(s.begin_ns).message(packet::GPU_RENDER_STAGE_EVENT, event));
    }

    /// What counters of a GPU there are: their numbers are places in this list.
    pub fn counter_specs(&mut self, ns: u64, gpu: u64, specs: &[CounterSpec]) {
        let mut descriptor = Message::default();
        for (i, s) in specs.iter().enumerate() {
            let mut spec = Message::default().uint(1, i as u64).string(2, s.name).string(3, s.description);
            for unit in s.units {
                spec = spec.uint(7, *unit);
            }
            descriptor.add(1, spec.uint(10, s.group));
        }
        let event = Message::default().message(1, descriptor).uint(3, gpu);
        self.add(at(ns).message(packet::GPU_COUNTER_EVENT, event));
    }

    /// What was counted since the sample before.
    pub fn counters(&mut self, ns: u64, gpu: u64, values: &[(usize, f64)]) {
        let mut event = Message::default();
        for (counter, v) in values {
            event.add(2, Message::default().uint(1, *counter as u64).double(3, *v));
        }
        self.add(at(ns).message(packet::GPU_COUNTER_EVENT, event.uint(3, gpu)));
    }

    /// A track of slices; tracks of the same name are shown as one.
    pub fn track(&mut self, uuid: u64, name: &str) {
        let descriptor = Message::default().uint(1, uuid).string(2, name);
        self.add(named_packet(NEEDS_STATE).message(packet::TRACK_DESCRIPTOR, descriptor));
    }

    /// A slice of a track, which begins when those before it have ended.
    pub fn slice(&mut self, track: u64, begin_ns: u64, end_ns: u64, name: &str) {
        // TrackEvent.Type: TYPE_SLICE_BEGIN, TYPE_SLICE_END.
        let event = |kind| Message::default().uint(9, kind).uint(11, track);
        let begin = event(1).string(23, name);
        self.add(at(begin_ns).message(packet::TRACK_EVENT, begin));
        self.add(at(end_ns).message(packet::TRACK_EVENT, event(2)));
    }
}
