//! What belongs to a GL context: its monitors (the extension shares none), its pending error, its extension string.

use crate::groups::Groups;
use crate::marks::Dialect;
use crate::monitor::Monitor;
use crate::{gl, lock, real};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    Egl,
    Glx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub platform: Platform,
    pub handle: usize,
}

pub struct Context {
    /// EGL's display, which ends its contexts.
    display: usize,
    /// Destroyed while it is current: it lives until it no longer is.
    dying: bool,
    /// What its driver counts; `None`: no zink on Tuff, and nothing is added.
    pub groups: Option<&'static Groups>,
    pub dialect: Dialect,
    error: Option<gl::Enum>,
    /// With our extension; made once, for GL's strings last as long as the context.
    extensions: Option<CString>,
    pub monitors: BTreeMap<gl::Uint, Monitor>,
    pub active: Option<gl::Uint>,
}

static CONTEXTS: Mutex<BTreeMap<Key, Context>> = Mutex::new(BTreeMap::new());
/// Contexts with an error of ours: programs ask for errors often, and for most there is none.
static ERRORS: AtomicUsize = AtomicUsize::new(0);

pub const EXTENSION: &CStr = c"GL_AMD_performance_monitor";

/// The context that is current in this thread.
fn current() -> Option<Key> {
    // SAFETY: without arguments, from any thread.
    let of = |get: Option<gl::GetCurrent>| get.map_or(0, |get| unsafe { get() } as usize);
    [(Platform::Egl, real::egl_get_current_context()), (Platform::Glx, real::glx_get_current_context())]
        .into_iter()
        .map(|(platform, get)| Key { platform, handle: of(get) })
        .find(|key| key.handle != 0)
}

/// A string of the current context.
pub fn string(name: gl::Enum) -> String {
    // SAFETY: GL's strings end in 0.
    let text = real::get_string().map(|get| unsafe { get(name) }).filter(|p| !p.is_null());
    text.map_or_else(String::new, |p| unsafe { CStr::from_ptr(p.cast()) }.to_string_lossy().into_owned())
}

fn dialect() -> Dialect {
    let version = string(gl::VERSION);
    if version.starts_with("OpenGL ES") {
        return Dialect::Es;
    }
    let mut numbers = version.split(['.', ' ']).map(|n| n.parse::<u32>().unwrap_or(0));
    match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
        (..=2, _) | (3, 0) => Dialect::Compatibility,
        (3, 1) => Dialect::Core,
        _ => {
            let mut mask = 0;
            if let Some(get) = real::get_integerv() {
                // SAFETY: one number, which contexts of 3.2 and newer have.
                unsafe { get(gl::CONTEXT_PROFILE_MASK, &mut mask) };
            }
            if mask & gl::CONTEXT_COMPATIBILITY_PROFILE_BIT != 0 {
                Dialect::Compatibility
            } else {
                Dialect::Core
            }
        }
    }
}

fn new(key: Key) -> Context {
    let renderer = string(gl::RENDERER);
    let ours = renderer.starts_with("zink") && renderer.contains("Tuff");
    let display = match key.platform {
        // SAFETY: without arguments.
        Platform::Egl => real::egl_get_current_display().map_or(0, |get| unsafe { get() } as usize),
        Platform::Glx => 0,
    };
    Context {
        display,
        dying: false,
        groups: if ours { Groups::get() } else { None },
        dialect: dialect(),
        error: None,
        extensions: None,
        monitors: BTreeMap::new(),
        active: None,
    }
}

/// Of the current context, with all of them locked: `f` must not call GL. `None` where none is current.
pub fn with<R>(f: impl FnOnce(&mut Context) -> R) -> Option<R> {
    let key = current()?;
    let known = lock(&CONTEXTS).contains_key(&key);
    // GL is asked with nothing locked.
    let made = (!known).then(|| new(key));
    let mut contexts = lock(&CONTEXTS);
    remove(&mut contexts, |k, c| c.dying && *k != key);
    if let Some(made) = made {
        contexts.entry(key).or_insert(made);
    }
    contexts.get_mut(&key).map(f)
}

fn remove(contexts: &mut BTreeMap<Key, Context>, which: impl Fn(&Key, &Context) -> bool) {
    contexts.retain(|key, context| {
        let goes = which(key, context);
        if goes && context.error.is_some() {
            ERRORS.fetch_sub(1, Ordering::Relaxed);
        }
        !goes
    });
}

/// Contexts were destroyed: those that `which` (of key and display) says.
pub fn ended(which: impl Fn(&Key, usize) -> bool) {
    let here = current();
    let mut contexts = lock(&CONTEXTS);
    for (key, context) in contexts.iter_mut() {
        context.dying |= which(key, context.display);
    }
    remove(&mut contexts, |key, context| context.dying && Some(*key) != here);
}

/// The error of ours that is pending in the current context, which then no longer is.
pub fn take_error() -> Option<gl::Enum> {
    if ERRORS.load(Ordering::Relaxed) == 0 {
        return None;
    }
    with(|context| {
        let error = context.error.take();
        if error.is_some() {
            ERRORS.fetch_sub(1, Ordering::Relaxed);
        }
        error
    })
    .flatten()
}

impl Context {
    /// GL keeps the first error until it is asked for.
    pub fn fail(&mut self, error: gl::Enum) {
        if self.error.is_none() {
            self.error = Some(error);
            ERRORS.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The extension string with ours at its end.
    pub fn extensions(&mut self, below: &CStr) -> *const u8 {
        let text = self.extensions.get_or_insert_with(|| {
            let mut text = below.to_bytes().trim_ascii_end().to_vec();
            if !text.is_empty() {
                text.push(b' ');
            }
            text.extend(EXTENSION.to_bytes());
            CString::new(text).unwrap_or_else(|_| EXTENSION.to_owned())
        });
        text.as_ptr().cast()
    }
}
