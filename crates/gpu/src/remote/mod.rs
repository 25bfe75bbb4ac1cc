//! The channel for readers in other processes (`TUFF_LISTEN`): a Unix socket at which this process says what its GPU has done.
//! docs/channel.md has the protocol.
//!
//! A thread takes connections, and each has a thread and a bounded [`crate::channel::Reader`] of its own: queues' threads do nothing but add records to
//! it. So a reader that stalls or dies costs records, which are counted, and no time.

mod lines;
mod session;

use crate::channel::Reader;
use crate::process;
use parking_lot::{Condvar, Mutex};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// Connections at a time.
pub const MAX_READERS: usize = 16;
/// Records that are kept for a reader who comes late, at most.
const BACKLOG: u32 = 4096;
/// How long a process that ends waits for its last records to be sent.
const LAST: Duration = Duration::from_millis(500);
/// The end of a socket's name.
const SUFFIX: &str = ".sock";

/// A process that listens.
struct Server {
    path: PathBuf,
    state: Mutex<State>,
    /// A session has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    sessions: usize,
    /// Of those sessions that read records.
    readers: Vec<Arc<Reader>>,
    /// What has finished since the process began, until a reader takes it.
    backlog: Option<Arc<Reader>>,
    /// The process ends: no reader starts any more.
    closing: bool,
}

/// The server, and the process whose it is: the child of a fork has a socket of its own.
static RUNNING: Mutex<Option<(u32, Arc<Server>)>> = Mutex::new(None);

/// Listens from now on, if that is wanted; a device is created.
pub fn open() {
    static AT_EXIT: Once = Once::new();
    extern "C" fn at_exit() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(close);
    }
    let Some(folder) = &settings::get().listen else { return };
    machine::observed::ask_all();
    let process = std::process::id();
    let mut running = RUNNING.lock();
    if running.as_ref().is_some_and(|(of, _)| *of == process) {
        return;
    }
    match Server::start(folder, &process::name()) {
        Ok(server) => {
            *running = Some((process, server));
            // SAFETY: the function needs nothing that is gone when a process ends.
            AT_EXIT.call_once(|| unsafe {
                libc::atexit(at_exit);
            });
        }
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "tuff: TUFF_LISTEN={}: {e}", plain::path(folder));
        }
    }
}

/// The process ends.
fn close() {
    // A fork's copy of the lock may be held by a thread that is not there.
    let Some(running) = RUNNING.try_lock() else { return };
    if let Some((_, server)) = running.as_ref().filter(|(of, _)| *of == std::process::id()) {
        server.close();
    }
}

impl Server {
    /// Listens at `name` in a folder, which is made if there is none, and must be this user's alone to write to.
    fn start(folder: &Path, name: &str) -> Result<Arc<Server>> {
        let refused = |why: &str| Error::new(ErrorKind::PermissionDenied, why);
        match std::fs::DirBuilder::new().mode(0o700).create(folder) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let is = std::fs::symlink_metadata(folder)?;
        // SAFETY: it has no conditions.
        if !is.is_dir() || is.uid() != unsafe { libc::geteuid() } || is.mode() & 0o022 != 0 {
            return Err(refused("it must be a folder of this user's, to which nobody else can write"));
        }
        let path = folder.join(format!("{name}{SUFFIX}"));
        // An earlier process of this number may have left its socket.
        if std::fs::symlink_metadata(&path).is_ok_and(|m| m.file_type().is_socket()) {
            if UnixStream::connect(&path).is_ok() {
                return Err(Error::new(ErrorKind::AddrInUse, "another process listens there"));
            }
            std::fs::remove_file(&path)?;
        }
        let listener = UnixListener::bind(&path)?;
        // Until now the folder's mode and `is_own` keep others away.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let backlog = Reader::open(BACKLOG).inspect(|b| b.start());
        let state = Mutex::new(State { backlog, ..State::default() });
        let server = Arc::new(Server { path, state, ended: Condvar::new() });
        let run = server.clone();
        let named = std::thread::Builder::new().name("tuff-listen".into());
        named.spawn(move || run.accept(&listener))?;
        Ok(server)
    }

    fn accept(self: &Arc<Self>, listener: &UnixListener) {
        loop {
            match listener.accept() {
                Ok((stream, _)) => self.admit(stream),
                // Out of descriptors, for example: the application may close some.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Gives a connection a thread, if it is this user's and there are not too many.
    fn admit(self: &Arc<Self>, stream: UnixStream) {
        if !is_own(&stream) {
            return;
        }
        {
            let mut state = self.state.lock();
            if state.closing || state.sessions == MAX_READERS {
                drop(state);
                session::refuse(&stream, &format!("there are {MAX_READERS} readers already"));
                return;
            }
            state.sessions += 1;
        }
        let server = self.clone();
        let named = std::thread::Builder::new().name("tuff-reader".into());
        let spawned = named.spawn(move || {
            // A panic must not leave its place taken.
            let _place = Place(&server);
            session::run(&server, &stream);
        });
        if spawned.is_err() {
            self.state.lock().sessions -= 1;
        }
    }

    /// A started reader of a session, which is stopped when the process ends; `None`: it ends now, or memory is short. `all`: the one that
    /// has what has finished so far, if nobody has taken it.
    fn reader(&self, all: bool) -> Option<Arc<Reader>> {
        let new = Reader::open(session::CAPACITY)?;
        let mut state = self.state.lock();
        if state.closing {
            return None;
        }
        let kept = if all { state.backlog.take() } else { None };
        let reader = kept.unwrap_or(new);
        reader.start();
        state.readers.push(reader.clone());
        Some(reader)
    }

    fn forget(&self, reader: &Arc<Reader>) {
        reader.stop();
        self.state.lock().readers.retain(|r| !Arc::ptr_eq(r, reader));
    }

    /// Takes no more connections, and gives sessions a moment to send what they have.
    fn close(&self) {
        let _ = std::fs::remove_file(&self.path);
        let until = Instant::now() + LAST;
        let readers = {
            let mut state = self.state.lock();
            state.closing = true;
            state.backlog.iter().for_each(|b| b.stop());
            state.readers.clone()
        };
        readers.iter().for_each(|r| r.stop());
        let mut state = self.state.lock();
        while !state.readers.is_empty() && !self.ended.wait_until(&mut state, until).timed_out() {}
    }
}

/// A session's place among the permitted ones.
struct Place<'a>(&'a Server);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state.lock().sessions -= 1;
        self.0.ended.notify_all();
    }
}

/// Whether the other end is this user's, or root's.
fn is_own(stream: &UnixStream) -> bool {
    let mut who = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a live socket, and room for what is asked for.
    let asked = unsafe {
        let to = (&raw mut who).cast();
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, to, &mut size)
    };
    // SAFETY: it has no conditions.
    asked == 0 && (who.uid == 0 || who.uid == unsafe { libc::geteuid() })
}

#[cfg(test)]
mod tests;
