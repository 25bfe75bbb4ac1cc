//! Tuff's channel for clients in Rust: what the modelled GPU did, read in the process that uses it or (`remote`) from another one
//! (docs/channel.md).
//!
//! [`raw`] is `include/tuff_channel.h` itself, which the driver is built with too; the rest makes it safe.

#[cfg_attr(windows, path = "find/windows.rs")]
mod find;
pub mod raw;
#[cfg(all(unix, feature = "remote"))]
pub mod remote;

pub use raw::{MARK_PREFIX, Span};
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// The driver of this process.
#[derive(Clone, Copy)]
pub struct Channel {
    table: &'static raw::Channel,
}

/// A counter of the catalogue (docs/counters.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// libGPUCounters' StableID; from 0x1000_0000 Tuff's own.
    pub id: u32,
    /// Its values are [`Value::Float64`].
    pub float: bool,
    /// `Fragment warps`.
    pub name: &'static str,
    /// `MaliFragWarp`.
    pub machine: &'static str,
    pub unit: &'static str,
    /// `Shader core`.
    pub block: &'static str,
    pub description: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Uint64(u64),
    Float64(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkloadKind {
    Dispatch,
    TraceRays,
    RenderPass,
    Transfer,
    Mark,
    /// Of a driver newer than this.
    Other(u32),
}

/// A workload that has finished, or a mark: `TuffRecord`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub order: u64,
    pub queue_order: u64,
    pub submission: u64,
    pub device: u32,
    pub queue: u32,
    pub kind: WorkloadKind,
    pub views: u32,
    pub frame: Option<u64>,
    /// Modelled time, in nanoseconds; so are the next two.
    pub span: Span,
    pub binning: Span,
    pub main: Span,
    pub label: &'a str,
    pub name: &'a str,
    pub events: &'a [u64],
}

/// What a read gave.
#[derive(Debug)]
pub enum Read<'a> {
    Record(Record<'a>),
    /// None came in time.
    Nothing,
    /// The reader is stopped, and everything before that was read.
    Ended,
}

/// The text at `p`; empty where there is none.
///
/// # Safety
/// `p` is null or a string that ends with 0 and lasts for `'a`.
unsafe fn text<'a>(p: *const c_char) -> &'a str {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { if p.is_null() { "" } else { CStr::from_ptr(p).to_str().unwrap_or_default() } }
}

impl Channel {
    /// The driver that is loaded in this process, if it is Tuff and speaks this version. It stays loaded from then on.
    pub fn find() -> Option<Channel> {
        let table = find::table()?;
        // A newer driver's table is longer, never shorter.
        (table.size as usize >= size_of::<raw::Channel>()).then_some(Channel { table })
    }

    /// The header's table itself.
    pub fn table(&self) -> &'static raw::Channel {
        self.table
    }

    /// The name of the modelled GPU.
    pub fn gpu(&self) -> &'static str {
        // SAFETY: a string of the table.
        unsafe { text(self.table.gpu) }
    }

    /// The catalogue, in its order.
    pub fn counters(&self) -> Vec<Counter> {
        // SAFETY: so many counters, whose strings are the table's.
        let all =
            unsafe { std::slice::from_raw_parts(self.table.counters, self.table.counter_count as usize) };
        // SAFETY: as above.
        let read = |c: &raw::Counter| unsafe {
            Counter {
                id: c.id,
                float: c.ty == raw::TYPE_FLOAT64,
                name: text(c.name),
                machine: text(c.machine),
                unit: text(c.unit),
                block: text(c.block),
                description: text(c.description),
            }
        };
        all.iter().map(read).collect()
    }

    /// Numbers in [`Record::events`].
    pub fn event_count(&self) -> usize {
        self.table.event_count as usize
    }

    pub fn event_names(&self) -> Vec<&'static str> {
        // SAFETY: so many strings of the table.
        unsafe {
            let all = std::slice::from_raw_parts(self.table.event_names, self.event_count());
            all.iter().map(|&n| text(n)).collect()
        }
    }

    /// The catalogue's counters of these events, in its order; `None` for the wrong number of events.
    pub fn evaluate(&self, events: &[u64]) -> Option<Vec<Value>> {
        if events.len() != self.event_count() {
            return None;
        }
        let mut values = vec![raw::Value { u: 0 }; self.table.counter_count as usize];
        // SAFETY: arrays of the lengths that the table says; both members of a value are 64 bits of anything.
        unsafe {
            (self.table.evaluate)(events.as_ptr(), values.as_mut_ptr());
            let types = std::slice::from_raw_parts(self.table.counters, values.len()).iter().map(|c| c.ty);
            let value = |(v, ty): (&raw::Value, u32)| match ty {
                raw::TYPE_FLOAT64 => Value::Float64(v.f),
                _ => Value::Uint64(v.u),
            };
            Some(values.iter().zip(types).map(value).collect())
        }
    }

    /// The number of a VkDevice, as the driver gave it out.
    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the driver follows none but its own handles")]
    pub fn device_number(&self, vk_device: *const c_void) -> Option<u32> {
        // SAFETY: the driver looks whether it is one of its own.
        Some(unsafe { (self.table.device_number)(vk_device) }).filter(|&n| n != raw::NONE)
    }

    /// The number of a VkQueue, as the driver gave it out, within its device.
    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the driver follows none but its own handles")]
    pub fn queue_number(&self, vk_queue: *const c_void) -> Option<u32> {
        // SAFETY: as above.
        Some(unsafe { (self.table.queue_number)(vk_queue) }).filter(|&n| n != raw::NONE)
    }

    /// Events of everything that a device, or (`None`) all of them, has finished since the process began; `None` where
    /// there is no such device.
    pub fn totals(&self, device: Option<u32>) -> Option<Vec<u64>> {
        let mut events = vec![0; self.event_count()];
        // SAFETY: room for all events.
        let result = unsafe { (self.table.totals)(device.unwrap_or(raw::ALL), events.as_mut_ptr()) };
        (result == 0).then_some(events)
    }

    /// A reader that keeps up to so many records until they are read; it is stopped. `None` when memory is short.
    pub fn reader(&self, capacity: u32) -> Option<Reader> {
        // SAFETY: a function of the table; it gives null or a reader.
        let reader = unsafe { (self.table.open)(capacity) };
        let handle = Arc::new(Handle { table: self.table, reader });
        (!reader.is_null()).then_some(Reader { handle, one_thread: PhantomData })
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Channel(version {}, {})", self.table.version, self.gpu())
    }
}

struct Handle {
    table: &'static raw::Channel,
    reader: *mut raw::Reader,
}

// SAFETY: the channel's functions may be called from any thread.
unsafe impl Send for Handle {}
// SAFETY: only `read` is for one thread at a time, and Reader, which alone calls it, asks for `&mut`.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a reader of this table, with nobody left who knows it.
        unsafe { (self.table.close)(self.reader) }
    }
}

/// Records in the order in which workloads finish. It may go from thread to thread.
pub struct Reader {
    handle: Arc<Handle>,
    one_thread: PhantomData<std::cell::Cell<()>>,
}

/// Ends a reader's wait from another thread.
#[derive(Clone)]
pub struct Stopper {
    handle: Arc<Handle>,
}

impl Reader {
    /// Workloads that finish from now on are read.
    pub fn start(&self) {
        // SAFETY: a live reader.
        unsafe { (self.handle.table.start)(self.handle.reader) };
    }
    /// Nothing more comes.
    pub fn stop(&self) {
        self.stopper().stop();
    }
    pub fn stopper(&self) -> Stopper {
        Stopper { handle: self.handle.clone() }
    }

    /// The next record: within this time, or (`None`) whenever one comes or the reader is stopped.
    pub fn read(&mut self, timeout: Option<Duration>) -> Read<'_> {
        // A wait that is said to end does, if only after 584 years.
        let ns = timeout.map_or(u64::MAX, |t| t.as_nanos().min(u64::MAX as u128 - 1) as u64);
        let mut record = std::mem::MaybeUninit::<raw::Record>::zeroed();
        // SAFETY: a live reader, which this thread alone reads; a record that was read is whole, and its pointers hold
        // until the next read, which the borrow forbids.
        unsafe {
            match (self.handle.table.read)(self.handle.reader, record.as_mut_ptr(), ns) {
                raw::READ_RECORD => Read::Record(self.record(record.assume_init())),
                raw::READ_NOTHING => Read::Nothing,
                _ => Read::Ended,
            }
        }
    }

    /// # Safety
    /// The reader has just filled `r`.
    unsafe fn record(&self, r: raw::Record) -> Record<'_> {
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            Record {
                order: r.order,
                queue_order: r.queue_order,
                submission: r.submission,
                device: r.device,
                queue: r.queue,
                kind: match r.kind {
                    raw::KIND_DISPATCH => WorkloadKind::Dispatch,
                    raw::KIND_TRACE_RAYS => WorkloadKind::TraceRays,
                    raw::KIND_RENDER_PASS => WorkloadKind::RenderPass,
                    raw::KIND_TRANSFER => WorkloadKind::Transfer,
                    raw::KIND_MARK => WorkloadKind::Mark,
                    other => WorkloadKind::Other(other),
                },
                views: r.views,
                frame: (r.frame != raw::NO_FRAME).then_some(r.frame),
                span: r.span,
                binning: r.binning,
                main: r.main,
                label: text(r.label),
                name: text(r.name),
                events: std::slice::from_raw_parts(r.events, self.handle.table.event_count as usize),
            }
        }
    }

    /// Records that were lost for want of room.
    pub fn lost(&self) -> u64 {
        // SAFETY: a live reader.
        unsafe { (self.handle.table.lost)(self.handle.reader) }
    }
}

impl Stopper {
    pub fn stop(&self) {
        // SAFETY: a live reader; `stop` may come from any thread.
        unsafe { (self.handle.table.stop)(self.handle.reader) };
    }
}
