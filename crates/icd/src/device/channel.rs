//! The channel's C interface (`include/tuff_channel.h`), over [`gpu::channel`]. Its types are those of the crate
//! `channel`, which clients use too.

use crate::base::guard;
use crate::base::object;
use crate::device::Device;
use crate::device::Queue;
use ::channel::raw;
use counters::{Counts, Event, Phase, Storage, Unit, Value};
use gpu::channel::{Read, Record, WorkloadKind, totals};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The table and what it points to.
struct Everything {
    table: raw::Channel,
    _gpu: CString,
    _counters: Vec<raw::Counter>,
    _names: Vec<*const c_char>,
    _texts: Vec<CString>,
}

// SAFETY: nothing of it changes once it is made.
unsafe impl Send for Everything {}
// SAFETY: as above.
unsafe impl Sync for Everything {}

static EVERYTHING: LazyLock<Everything> = LazyLock::new(Everything::new);

impl Everything {
    fn new() -> Everything {
        let mut texts: Vec<CString> = Vec::new();
        // A string's characters stay where they are when its owner moves.
        let mut text = |s: &str| {
            texts.push(CString::new(s).unwrap_or_default());
            texts.last().map_or(std::ptr::null(), |t| t.as_ptr())
        };
        let counters: Vec<_> = counters::catalogue::modelled()
            .iter()
            .map(|c| raw::Counter {
                id: c.id,
                ty: match c.storage {
                    Storage::Uint64 => raw::TYPE_UINT64,
                    Storage::Float64 => raw::TYPE_FLOAT64,
                },
                name: text(c.human),
                machine: text(c.machine),
                unit: text(c.unit),
                block: text(c.block.title()),
                description: text(c.description),
            })
            .collect();
        // In the order of `Counts`.
        let mut names: Vec<_> = Event::ALL.iter().map(|e| text(e.name())).collect();
        for p in Phase::ALL {
            names.extend(Unit::ALL.iter().map(|u| text(&format!("{}.{}", p.name(), u.name()))));
        }
        let gpu = CString::new(counters::model::current().name.as_str()).unwrap_or_default();
        let table = raw::Channel {
            version: raw::VERSION,
            size: size_of::<raw::Channel>() as u32,
            gpu: gpu.as_ptr(),
            counter_count: counters.len() as u32,
            event_count: names.len() as u32,
            counters: counters.as_ptr(),
            event_names: names.as_ptr(),
            evaluate,
            device_number,
            queue_number,
            totals: totals_of,
            open,
            close,
            start,
            stop,
            read,
            lost,
        };
        Everything { table, _gpu: gpu, _counters: counters, _names: names, _texts: texts }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn tuff_channel(version: u32) -> *const raw::Channel {
    guard::raw(c"tuff_channel", std::ptr::null(), || match version {
        1..=raw::VERSION => {
            machine::observed::ask_all();
            &raw const EVERYTHING.table
        }
        _ => std::ptr::null(),
    })
}

/// Does nothing where a pointer is null.
unsafe extern "C" fn evaluate(events: *const u64, values: *mut raw::Value) {
    guard::raw(c"TuffChannel::evaluate", (), || {
        if events.is_null() || values.is_null() {
            return;
        }
        let model = counters::model::current();
        // SAFETY: the caller has event_count numbers there.
        let counts = Counts::new(unsafe { events.cast::<[u64; Counts::LEN]>().read_unaligned() });
        for (i, c) in counters::catalogue::modelled().iter().enumerate() {
            let value = match c.value(&counts, model) {
                Value::Uint64(u) => raw::Value { u },
                Value::Float64(f) => raw::Value { f },
            };
            // SAFETY: the caller has room for counter_count values.
            unsafe { values.add(i).write_unaligned(value) };
        }
    })
}

unsafe extern "C" fn device_number(vk_device: *const c_void) -> u32 {
    guard::raw(c"TuffChannel::device_number", raw::NONE, || {
        let handle = vk::Handle::from_raw(vk_device as u64);
        // SAFETY: a device that is in use is not destroyed meanwhile (external synchronisation).
        unsafe { object::find::<Device>(handle) }.map_or(raw::NONE, |d| d.gpu.number)
    })
}

unsafe extern "C" fn queue_number(vk_queue: *const c_void) -> u32 {
    guard::raw(c"TuffChannel::queue_number", raw::NONE, || {
        let handle = vk::Handle::from_raw(vk_queue as u64);
        // SAFETY: as above.
        unsafe { object::find::<Queue>(handle) }.map_or(raw::NONE, |q| q.index as u32)
    })
}

unsafe extern "C" fn totals_of(device: u32, events: *mut u64) -> c_int {
    guard::raw(c"TuffChannel::totals", -1, || {
        let counts = totals((device != raw::ALL).then_some(device));
        let Some(counts) = counts.filter(|_| !events.is_null()) else { return -1 };
        // SAFETY: the caller has room for event_count numbers.
        unsafe { events.cast::<[u64; Counts::LEN]>().write_unaligned(counts.0) };
        0
    })
}

/// A reader and the record that it has read last, whose memory the caller may look at until the next one.
struct Open {
    reader: Arc<gpu::channel::Reader>,
    current: Mutex<Option<Arc<Record>>>,
}

/// Open readers by their handles, which are numbers: one that is closed or was never opened is noticed.
static READERS: Mutex<Option<HashMap<usize, Arc<Open>>>> = Mutex::new(None);
static NEXT: AtomicUsize = AtomicUsize::new(1);

fn find(reader: *const raw::Reader) -> Option<Arc<Open>> {
    READERS.lock().as_ref()?.get(&(reader as usize)).cloned()
}

fn reader_do(reader: *const raw::Reader, f: impl FnOnce(&Arc<gpu::channel::Reader>)) -> c_int {
    find(reader).map_or(-1, |open| {
        f(&open.reader);
        0
    })
}

unsafe extern "C" fn open(capacity: u32) -> *mut raw::Reader {
    guard::raw(c"TuffChannel::open", std::ptr::null_mut(), || {
        let Some(reader) = gpu::channel::Reader::open(capacity) else { return std::ptr::null_mut() };
        let open = Open { reader, current: Mutex::new(None) };
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        READERS.lock().get_or_insert_default().insert(handle, Arc::new(open));
        handle as *mut raw::Reader
    })
}

unsafe extern "C" fn close(reader: *mut raw::Reader) {
    guard::raw(c"TuffChannel::close", (), || {
        let open = READERS.lock().as_mut().and_then(|all| all.remove(&(reader as usize)));
        if let Some(open) = open {
            open.reader.stop();
        }
    })
}

unsafe extern "C" fn start(reader: *mut raw::Reader) -> c_int {
    guard::raw(c"TuffChannel::start", -1, || reader_do(reader, |r| r.start()))
}

unsafe extern "C" fn stop(reader: *mut raw::Reader) -> c_int {
    guard::raw(c"TuffChannel::stop", -1, || reader_do(reader, |r| r.stop()))
}

unsafe extern "C" fn read(reader: *mut raw::Reader, record: *mut raw::Record, timeout_ns: u64) -> c_int {
    guard::raw(c"TuffChannel::read", raw::READ_ERROR, || {
        let Some(open) = find(reader).filter(|_| !record.is_null()) else { return raw::READ_ERROR };
        let timeout = (timeout_ns != u64::MAX).then(|| Duration::from_nanos(timeout_ns));
        match open.reader.read(timeout) {
            Read::Nothing => raw::READ_NOTHING,
            Read::Ended => raw::READ_ENDED,
            Read::Record(r) => {
                // SAFETY: the caller has room for a record.
                unsafe { record.write_unaligned(view(&r)) };
                *open.current.lock() = Some(r);
                raw::READ_RECORD
            }
        }
    })
}

/// 0 for what is no reader.
unsafe extern "C" fn lost(reader: *const raw::Reader) -> u64 {
    guard::raw(c"TuffChannel::lost", 0, || find(reader).map_or(0, |o| o.reader.lost()))
}

/// A record as the caller sees it, while it lasts.
fn view(r: &Record) -> raw::Record {
    let span = |s: machine::time::Span| raw::Span { begin: s.begin, end: s.end };
    raw::Record {
        order: r.number.order,
        queue_order: r.number.queue_order,
        submission: r.number.submission,
        device: r.device,
        queue: r.queue,
        kind: match r.kind {
            WorkloadKind::Dispatch => raw::KIND_DISPATCH,
            WorkloadKind::Trace => raw::KIND_TRACE_RAYS,
            WorkloadKind::RenderPass => raw::KIND_RENDER_PASS,
            WorkloadKind::Transfer => raw::KIND_TRANSFER,
            WorkloadKind::Mark => raw::KIND_MARK,
        },
        views: r.views,
        frame: r.frame.unwrap_or(raw::NO_FRAME),
        span: span(r.span),
        binning: span(r.binning),
        main: span(r.main),
        label: r.label.as_ptr(),
        name: r.name.as_ptr(),
        events: r.counts.0.as_ptr(),
    }
}
