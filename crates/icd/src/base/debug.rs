//! Messages: the log on stderr (`TUFF_LOG`), VK_EXT_debug_utils messengers,
//! VK_EXT_debug_report callbacks, and the names that applications give to objects.
//!
//! No lock is held while an application's callback runs.

use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::io::Write;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use vk::DebugReportFlagsEXT as Flags;
pub(crate) use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
pub(crate) use vk::DebugUtilsMessageTypeFlagsEXT as MessageTypes;
use vk::ObjectType;

/// How much a message matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
}

impl Level {
    fn severity(self) -> Severity {
        match self {
            Level::Error => Severity::ERROR,
            Level::Warn => Severity::WARNING,
            Level::Info => Severity::INFO,
        }
    }

    fn log(self) -> settings::Log {
        match self {
            Level::Error => settings::Log::Error,
            Level::Warn => settings::Log::Warn,
            Level::Info => settings::Log::Info,
        }
    }
}

/// `message`: what the application named in it is [plain](plain::line).
fn log(level: Level, message: &str) {
    if level.log() <= settings::get().log {
        // If stderr is full or closed, `eprintln` would panic; this ignores it.
        let _ = files::within_limits(|| writeln!(std::io::stderr(), "tuff: {message}"));
    }
}

/// Who listens, and to what.
#[derive(Clone, Copy)]
pub(crate) enum Listener {
    Utils {
        severities: Severity,
        kinds: MessageTypes,
        callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
        user_data: usize,
    },
    Report {
        flags: vk::DebugReportFlagsEXT,
        callback: vk::PFN_vkDebugReportCallbackEXT,
        user_data: usize,
    },
}

/// An instance's listeners.
#[derive(Default)]
pub(crate) struct Sink {
    listeners: RwLock<Vec<(u64, Listener)>>,
}

impl Sink {
    pub fn add(&self, id: u64, listener: Listener) {
        self.listeners.write().push((id, listener));
    }

    pub fn remove(&self, id: u64) {
        self.listeners.write().retain(|(i, _)| *i != id);
    }

    /// Sets the listeners that hear messages while the instance is created or destroyed.
    pub fn set_creation(&self, listeners: &[Listener]) {
        let mut all = self.listeners.write();
        all.retain(|(i, _)| *i != 0);
        all.extend(listeners.iter().map(|l| (0, *l)));
    }

    pub fn listeners(&self) -> Vec<(u64, Listener)> {
        self.listeners.read().clone()
    }

    /// Tells every listener that wants to know.
    pub fn tell(
        &self,
        severity: Severity,
        kinds: MessageTypes,
        data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        for (_, l) in self.listeners() {
            match l {
                Listener::Utils { severities, kinds: wanted, callback, user_data } => {
                    if let Some(f) =
                        callback.filter(|_| severities.intersects(severity) && wanted.intersects(kinds))
                    {
                        // SAFETY: the application's function, with the data it gave; `data` outlives the call.
                        unsafe { f(severity, kinds, data, user_data as *mut c_void) };
                    }
                }
                Listener::Report { .. } => report_as_report(&l, severity, kinds, data),
            }
        }
    }

    fn say(&self, level: Level, message: &CStr, objects: &[vk::DebugUtilsObjectNameInfoEXT<'_>]) {
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
            .message_id_name(c"Tuff")
            .message(message)
            .objects(objects);
        self.tell(level.severity(), MessageTypes::GENERAL, &data);
    }
}

/// Things whose messages go to an instance's listeners.
pub(crate) trait Speaks {
    fn sink(&self) -> &Sink;
}

/// Passes a debug-utils message to an older listener.
fn report_as_report(
    l: &Listener,
    severity: Severity,
    kinds: MessageTypes,
    data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    let flag = match severity {
        Severity::ERROR => Flags::ERROR,
        Severity::WARNING if kinds.contains(MessageTypes::PERFORMANCE) => Flags::PERFORMANCE_WARNING,
        Severity::WARNING => Flags::WARNING,
        Severity::INFO => Flags::INFORMATION,
        _ => Flags::DEBUG,
    };
    call(l, flag, vk::DebugReportObjectTypeEXT::UNKNOWN, 0, 0, 0, c"Tuff".as_ptr(), data.p_message);
}

/// Calls an older listener if it listens to `flag`.
pub(crate) fn call(
    l: &Listener,
    flag: Flags,
    ty: vk::DebugReportObjectTypeEXT,
    object: u64,
    location: usize,
    code: i32,
    prefix: *const c_char,
    message: *const c_char,
) {
    if let Listener::Report { flags, callback: Some(f), user_data } = *l
        && flags.intersects(flag)
    {
        // SAFETY: the application's function, with the data it gave; the strings outlive the call.
        unsafe { f(flag, ty, object, location, code, prefix, message, user_data as *mut c_void) };
    }
}

fn c_string(message: &str) -> CString {
    CString::new(message).unwrap_or_default()
}

/// A message of the driver's own, to the log and the instance's listeners.
pub(crate) fn say_to(sink: &Sink, level: Level, message: &str) {
    let message = plain::line(message);
    log(level, &message);
    sink.say(level, &c_string(&message), &[]);
}

/// What is wrong with the settings: on the log once, and to the listeners of each instance while it is made.
pub(crate) fn say_bad_settings(sink: &Sink) {
    static LOGGED: AtomicBool = AtomicBool::new(false);
    let logged = LOGGED.swap(true, Ordering::Relaxed);
    let gpu = counters::model::problem().map(|p| format!("{p}; the default GPU is modelled"));
    for message in settings::problems().iter().chain(&gpu).map(|m| plain::line(m)) {
        if !logged {
            log(Level::Warn, &message);
        }
        sink.say(Level::Warn, &c_string(&message), &[]);
    }
}

/// As [`say_to`].
pub(crate) fn say(speaker: &impl Speaks, level: Level, message: &str) {
    say_to(speaker.sink(), level, message);
}

/// Why a call returned an error.
pub(crate) fn error(speaker: &impl Speaks, message: &str) {
    say(speaker, Level::Error, message);
}

/// Where the messages of each instance go, for messages that belong to none.
static INSTANCES: Mutex<Vec<Weak<Sink>>> = Mutex::new(Vec::new());

/// Makes an instance's listeners hear what belongs to no instance.
pub(crate) fn register(instance: Weak<Sink>) {
    let mut all = INSTANCES.lock();
    all.retain(|i| i.strong_count() > 0);
    all.push(instance);
}

/// `message` is plain.
fn broadcast(level: Level, message: &str, objects: &[vk::DebugUtilsObjectNameInfoEXT<'_>]) {
    log(level, message);
    let all: Vec<_> = INSTANCES.lock().iter().filter_map(Weak::upgrade).collect();
    let message = c_string(message);
    for instance in all {
        instance.say(level, &message, objects);
    }
}

/// An error whose instance is not known: to the log and all listeners.
pub(crate) fn log_error(message: &str) {
    broadcast(Level::Error, &plain::line(message), &[]);
}

/// As [`log_error`], in several lines.
pub(crate) fn log_errors<'a>(lines: impl Iterator<Item = &'a str>) {
    let lines: Vec<_> = lines.map(plain::line).collect();
    broadcast(Level::Error, &lines.join("\n"), &[]);
}

/// Says that a handle is not a live one of type `ty`.
pub(crate) fn bad_handle(raw: u64, ty: ObjectType) {
    let name = name(raw).map(|n| format!(" ({})", n.to_string_lossy())).unwrap_or_default();
    let message = format!("{raw:#x}{name} is no live {ty:?} but {}", crate::base::object::describe(raw));
    let object =
        vk::DebugUtilsObjectNameInfoEXT { object_type: ty, object_handle: raw, ..Default::default() };
    broadcast(Level::Error, &plain::line(&message), &[object]);
}

static ANY_NAMES: AtomicBool = AtomicBool::new(false);
static NAMES: Mutex<Option<HashMap<u64, CString>>> = Mutex::new(None);

/// Names an object; an empty name takes it away.
pub(crate) fn set_name(raw: u64, name: &CStr) {
    let mut names = NAMES.lock();
    let map = names.get_or_insert_default();
    if name.is_empty() {
        map.remove(&raw);
    } else {
        map.insert(raw, name.to_owned());
        ANY_NAMES.store(true, Ordering::Relaxed);
    }
}

/// The name that the application gave to an object.
pub(crate) fn name(raw: u64) -> Option<CString> {
    if !ANY_NAMES.load(Ordering::Relaxed) {
        return None;
    }
    NAMES.lock().as_ref()?.get(&raw).cloned()
}

/// For messages: the name that the application gave to an object, or its handle.
pub(crate) fn called(raw: u64) -> String {
    name(raw).map_or_else(|| format!("{raw:#x}"), |n| format!("'{}'", n.to_string_lossy()))
}

/// Forgets what is known about the object of a handle that is no more.
pub(crate) fn forget(raw: u64) {
    if ANY_NAMES.load(Ordering::Relaxed)
        && let Some(map) = NAMES.lock().as_mut()
    {
        map.remove(&raw);
    }
}
