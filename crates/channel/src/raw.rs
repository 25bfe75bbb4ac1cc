//! `include/tuff_channel.h` in Rust: what each thing means is said there. `tests/header.rs` compares the two.

use std::ffi::{c_char, c_int, c_void};

pub const VERSION: u32 = 1;
pub const ALL: u32 = u32::MAX;
pub const NONE: u32 = u32::MAX;
pub const NO_FRAME: u64 = u64::MAX;

/// What begins the names of labels that are marks.
pub const MARK_PREFIX: &str = "tuff.mark:";

#[derive(Clone, Copy)]
#[repr(C)]
pub union Value {
    pub u: u64,
    pub f: f64,
}

pub const TYPE_UINT64: u32 = 0;
pub const TYPE_FLOAT64: u32 = 1;

#[repr(C)]
pub struct Counter {
    pub id: u32,
    pub ty: u32,
    pub name: *const c_char,
    pub machine: *const c_char,
    pub unit: *const c_char,
    pub block: *const c_char,
    pub description: *const c_char,
}

pub const KIND_DISPATCH: u32 = 0;
pub const KIND_RENDER_PASS: u32 = 1;
pub const KIND_TRANSFER: u32 = 2;
pub const KIND_MARK: u32 = 3;
pub const KIND_TRACE_RAYS: u32 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Span {
    pub begin: u64,
    pub end: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Record {
    pub order: u64,
    pub queue_order: u64,
    pub submission: u64,
    pub device: u32,
    pub queue: u32,
    pub kind: u32,
    pub views: u32,
    pub frame: u64,
    pub span: Span,
    pub binning: Span,
    pub main: Span,
    pub label: *const c_char,
    pub name: *const c_char,
    pub events: *const u64,
}

/// The driver's: only pointers to it are known.
#[repr(C)]
pub struct Reader {
    _opaque: [u8; 0],
}

pub const READ_RECORD: c_int = 0;
pub const READ_NOTHING: c_int = 1;
pub const READ_ENDED: c_int = 2;
pub const READ_ERROR: c_int = 3;

#[repr(C)]
pub struct Channel {
    pub version: u32,
    pub size: u32,
    pub gpu: *const c_char,
    pub counter_count: u32,
    pub event_count: u32,
    pub counters: *const Counter,
    pub event_names: *const *const c_char,
    pub evaluate: unsafe extern "C" fn(events: *const u64, values: *mut Value),
    pub device_number: unsafe extern "C" fn(vk_device: *const c_void) -> u32,
    pub queue_number: unsafe extern "C" fn(vk_queue: *const c_void) -> u32,
    pub totals: unsafe extern "C" fn(device: u32, events: *mut u64) -> c_int,
    pub open: unsafe extern "C" fn(capacity: u32) -> *mut Reader,
    pub close: unsafe extern "C" fn(reader: *mut Reader),
    pub start: unsafe extern "C" fn(reader: *mut Reader) -> c_int,
    pub stop: unsafe extern "C" fn(reader: *mut Reader) -> c_int,
    pub read: unsafe extern "C" fn(reader: *mut Reader, record: *mut Record, timeout_ns: u64) -> c_int,
    pub lost: unsafe extern "C" fn(reader: *const Reader) -> u64,
}

/// `tuff_channel`.
pub type Get = unsafe extern "C" fn(version: u32) -> *const Channel;

// SAFETY: a driver's tables are written once, before anybody sees them; their strings last as long.
unsafe impl Send for Channel {}
// SAFETY: as above; its functions may be called from any thread.
unsafe impl Sync for Channel {}
// SAFETY: as above.
unsafe impl Send for Counter {}
// SAFETY: as above.
unsafe impl Sync for Counter {}
