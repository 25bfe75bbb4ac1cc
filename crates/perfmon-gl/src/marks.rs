//! Marks: put into the GL stream here, told by the channel when the GPU has got there.

use crate::groups::Groups;
use crate::{context, gl, lock, real};
use channel::{MARK_PREFIX, Read, Reader, WorkloadKind};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// Records that the channel keeps for us until they are read.
const ROOM: u32 = 1 << 14;
/// How often they are read when nobody asks: long before so many workloads are done.
const OFTEN: Duration = Duration::from_millis(20);
/// Our debug messages' id: what a program sees of them is switched off by it.
const MESSAGE: gl::Uint = 0x7475_6666;

/// What a queue had counted when it got to a mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// Device and queue.
    pub queue: (u32, u32),
    pub events: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Slot {
    Waiting,
    Came(Reached),
    /// Records were lost, maybe this one.
    Lost,
}

/// How far a pair of marks is.
pub enum Pair {
    Waiting,
    Came(Reached, Reached),
    Lost,
}

#[derive(Default)]
struct Marks {
    next: u64,
    /// The marks whose record is wanted.
    slots: HashMap<u64, Slot>,
}

static MARKS: LazyLock<Mutex<Marks>> = LazyLock::new(Mutex::default);

/// The channel's reader, and how many records it had lost when it was last read.
struct Ear {
    reader: Reader,
    lost: u64,
}

/// Read at each question, so that what the GPU had done by then is known; and by a thread, so that it never gets full.
static EAR: Mutex<Option<Ear>> = Mutex::new(None);

/// Begins to read the channel, once; false where that is impossible.
pub fn listen(groups: &'static Groups) -> bool {
    let mut ear = lock(&EAR);
    if ear.is_some() {
        return true;
    }
    let Some(reader) = groups.channel.reader(ROOM) else { return false };
    let empty = || {
        loop {
            std::thread::sleep(OFTEN);
            crate::guard(|| hear(Duration::ZERO));
        }
    };
    if std::thread::Builder::new().name("tuff-perfmon".into()).spawn(empty).is_err() {
        return false;
    }
    reader.start();
    *ear = Some(Ear { reader, lost: 0 });
    true
}

/// Takes in what the GPU has got to; waits for the first record so long.
fn hear(mut patience: Duration) {
    let mut ear = lock(&EAR);
    let Some(Ear { reader, lost }) = &mut *ear else { return };
    while let Read::Record(r) = reader.read(Some(patience)) {
        patience = Duration::ZERO;
        if let (WorkloadKind::Mark, Some(id)) = (r.kind, own(r.name))
            && let Some(slot) = lock(&MARKS).slots.get_mut(&id)
        {
            *slot = Slot::Came(Reached { queue: (r.device, r.queue), events: r.events.to_vec() });
        }
    }
    let now = reader.lost();
    if now != *lost {
        *lost = now;
        let mut marks = lock(&MARKS);
        marks.slots.values_mut().filter(|s| **s == Slot::Waiting).for_each(|s| *s = Slot::Lost);
    }
}

fn name(id: u64) -> String {
    format!("{MARK_PREFIX}perfmon.{id}")
}

/// The number in a mark's name, if it is one of ours.
fn own(name: &str) -> Option<u64> {
    name.strip_prefix(MARK_PREFIX)?.strip_prefix("perfmon.")?.parse().ok()
}

/// A mark that will be waited for.
pub fn new() -> u64 {
    let mut marks = lock(&MARKS);
    let id = marks.next;
    marks.next += 1;
    marks.slots.insert(id, Slot::Waiting);
    id
}

/// Nobody wants to know any more.
pub fn forget(ids: &[u64]) {
    let mut marks = lock(&MARKS);
    for id in ids {
        marks.slots.remove(id);
    }
}

fn look(marks: &Marks, begin: u64, end: u64) -> Pair {
    match (marks.slots.get(&begin), marks.slots.get(&end)) {
        (Some(Slot::Came(b)), Some(Slot::Came(e))) => Pair::Came(b.clone(), e.clone()),
        (Some(Slot::Waiting), _) | (_, Some(Slot::Waiting)) => Pair::Waiting,
        _ => Pair::Lost,
    }
}

pub fn poll(begin: u64, end: u64) -> Pair {
    hear(Duration::ZERO);
    look(&lock(&MARKS), begin, end)
}

/// Waits for both, but not longer than this.
pub fn wait(begin: u64, end: u64, at_most: Duration) -> Pair {
    let until = Instant::now() + at_most;
    loop {
        let pair = poll(begin, end);
        if !matches!(pair, Pair::Waiting) || Instant::now() >= until {
            return pair;
        }
        hear(Duration::from_millis(1));
    }
}

/// Which of GL's dialects the current context speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Es,
    Core,
    /// With glBegin, whose vertices Mesa gathers.
    Compatibility,
}

/// Puts a mark into the current context's stream. Nothing is locked here: GL may call the program back.
pub fn emit(id: u64, dialect: Dialect) {
    let (control, insert) = match dialect {
        Dialect::Es => (real::debug_message_control_es(), real::debug_message_insert_es()),
        _ => (real::debug_message_control(), real::debug_message_insert()),
    };
    let (Some(control), Some(insert), Ok(text)) = (control, insert, CString::new(name(id))) else { return };
    // SAFETY: functions of the current context; arrays and strings of the lengths that are told.
    unsafe {
        if dialect == Dialect::Compatibility {
            draw_what_is_gathered();
        }
        // The message itself is for the GPU alone: no log or callback of the program's gets it.
        control(gl::DEBUG_SOURCE_THIRD_PARTY, gl::DEBUG_TYPE_MARKER, gl::DONT_CARE, 1, &MESSAGE, gl::FALSE);
        insert(
            gl::DEBUG_SOURCE_THIRD_PARTY,
            gl::DEBUG_TYPE_MARKER,
            MESSAGE,
            gl::DEBUG_SEVERITY_NOTIFICATION,
            -1,
            text.as_ptr(),
        );
        if drops_idle_marks() {
            work(dialect);
        }
    }
}

/// Mesa gathers the vertices of several glBegin and glEnd, and a debug message overtakes them. Setting the render mode
/// to what it is already draws them, and does nothing else.
///
/// # Safety
/// A context of the compatibility profile is current.
unsafe fn draw_what_is_gathered() {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let (Some(get), Some(render_mode)) = (real::get_integerv(), real::render_mode()) else { return };
        let mut mode = 0;
        get(gl::RENDER_MODE, &mut mode);
        if mode as gl::Enum == gl::RENDER {
            render_mode(gl::RENDER);
        }
    }
}

/// Whether the current context's zink drops a command buffer that has nothing but marks, where its batch has an upload
/// (which is work of another command buffer): since Mesa 24. Older ones keep the marks for the batch that follows; and there a
/// timestamp ends the render pass, which would change what is counted.
fn drops_idle_marks() -> bool {
    let version = context::string(gl::VERSION);
    let mesa = version.split_once("Mesa ").map(|(_, number)| number.split('.').next().unwrap_or_default());
    mesa.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 24)
}

/// Work that counts nothing: a timestamp, whose query is nobody's. zink submits only what has work, and a mark is none.
///
/// # Safety
/// A context of this dialect is current.
unsafe fn work(dialect: Dialect) {
    let (generate, counter, delete) = match dialect {
        Dialect::Es => (real::gen_queries_es(), real::query_counter_es(), real::delete_queries_es()),
        _ => (real::gen_queries(), real::query_counter(), real::delete_queries()),
    };
    let (Some(generate), Some(counter), Some(delete)) = (generate, counter, delete) else { return };
    let mut query = 0;
    // SAFETY: functions of the current context, with one name.
    unsafe {
        generate(1, &mut query);
        if query != 0 {
            counter(query, gl::TIMESTAMP);
            delete(1, &mut query);
        }
    }
}

/// Sends what the current context has recorded to the GPU; it waits for nothing.
pub fn flush(dialect: Dialect) {
    // SAFETY: the caller's context is current, and speaks this dialect.
    unsafe {
        work(dialect);
        if let Some(flush) = real::flush() {
            flush();
        }
    }
}

/// Waits until the GPU has done what it was sent.
pub fn finish() {
    if let Some(finish) = real::finish() {
        // SAFETY: a function of the current context.
        unsafe { finish() }
    }
}
