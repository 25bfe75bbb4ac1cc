//! One connection: a request a line, and what it is answered.

use super::{Server, lines};
use crate::channel::{Read, Reader};
use counters::catalogue::{Counter, modelled};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Records that wait for a reader, at most.
pub const CAPACITY: u32 = 16384;
/// Bytes of a request, at most.
pub const MAX_REQUEST: usize = 16384;
/// How long a connection may say nothing between requests.
const SILENCE: Duration = Duration::from_secs(60);
/// How long an answer may wait for the reader to take some of it.
const STALLED: Duration = Duration::from_secs(10);
/// How often a session without records looks whether its reader is still there.
const LOOK: Duration = Duration::from_millis(200);
/// Bytes that are sent at once.
const CHUNK: usize = 65536;

/// What a reader wants to know, with the counters that it names.
enum Request {
    Info,
    Totals(Vec<&'static Counter>),
    /// All: also what has finished already, as far as it was kept.
    Read {
        all: bool,
        counters: Vec<&'static Counter>,
    },
}

impl Request {
    fn of(line: &str) -> std::result::Result<Request, String> {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let counters = || counters(words);
        match first {
            "info" => Ok(Request::Info),
            "totals" => Ok(Request::Totals(counters()?)),
            "read" | "all" => Ok(Request::Read { all: first == "all", counters: counters()? }),
            _ => Err("a request is info, totals, read or all".into()),
        }
    }
}

/// Counters by their machines' names; `*`: all of them.
fn counters<'a>(names: impl Iterator<Item = &'a str>) -> std::result::Result<Vec<&'static Counter>, String> {
    let all = modelled();
    let mut found: Vec<&Counter> = vec![];
    for name in names {
        if name == "*" {
            return Ok(all.to_vec());
        }
        let counter = all.iter().copied().find(|c| c.machine == name);
        let counter = counter.ok_or_else(|| format!("there is no counter {}", plain::line(name)))?;
        if !found.iter().any(|f| f.machine == counter.machine) {
            found.push(counter);
        }
    }
    Ok(found)
}

/// Answers until the other end goes, or asks for something that is no request.
pub fn run(server: &Server, stream: &UnixStream) {
    let times = stream.set_read_timeout(Some(SILENCE)).and_then(|()| stream.set_write_timeout(Some(STALLED)));
    if times.is_err() {
        return;
    }
    let mut waiting = vec![];
    // An error: the other end is gone.
    while let Ok(Some(line)) = request(stream, &mut waiting) {
        let done = match Request::of(&line) {
            Ok(Request::Info) => send(stream, &lines::info()),
            Ok(Request::Totals(counters)) => send(stream, &lines::totals(&counters)),
            Ok(Request::Read { all, counters }) => {
                let Some(reader) = server.reader(all) else {
                    return refuse(stream, "the process ends, or its memory is short");
                };
                let _ = records(stream, &reader, &counters);
                server.forget(&reader);
                return;
            }
            Err(why) => return refuse(stream, &why),
        };
        if done.is_err() {
            return;
        }
    }
}

/// Says why there is no answer.
pub fn refuse(stream: &UnixStream, why: &str) {
    let _ = stream.set_write_timeout(Some(LOOK));
    let _ = send(stream, &lines::error(why));
}

/// The next line; `None`: the other end has said all.
fn request(stream: &UnixStream, waiting: &mut Vec<u8>) -> Result<Option<String>> {
    loop {
        if let Some(end) = waiting.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = waiting.drain(..=end).collect();
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
        if waiting.len() >= MAX_REQUEST {
            refuse(stream, &format!("a request has {MAX_REQUEST} bytes at most"));
            return Ok(None);
        }
        let mut more = [0; 4096];
        match std::io::Read::read(&mut &*stream, &mut more) {
            Ok(0) => return Ok(None),
            Ok(n) => waiting.extend_from_slice(&more[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Sends records until the reader is stopped, which the end of the process does, or the other end goes or says something.
fn records(stream: &UnixStream, reader: &Arc<Reader>, counters: &[&'static Counter]) -> Result<()> {
    let mut out = lines::reading();
    let mut lost = 0;
    loop {
        let wait = if out.is_empty() { LOOK } else { Duration::ZERO };
        let read = reader.read(Some(wait));
        if reader.lost() != lost {
            lost = reader.lost();
            lines::lost(&mut out, lost);
        }
        match &read {
            Read::Record(record) => {
                lines::record(&mut out, record, counters);
                if out.len() < CHUNK {
                    continue;
                }
            }
            Read::Nothing if out.is_empty() && has_spoken(stream) => return Ok(()),
            Read::Nothing => {}
            Read::Ended => lines::ended(&mut out),
        }
        send(stream, &out)?;
        out.clear();
        if matches!(read, Read::Ended) {
            return Ok(());
        }
    }
}

/// Whether the other end has gone, or sent something.
fn has_spoken(stream: &UnixStream) -> bool {
    let mut poll = libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    unsafe { libc::poll(&mut poll, 1, 0) > 0 }
}

/// Sends all of it. The application may not ignore SIGPIPE, so no signal comes of an end that is gone.
fn send(stream: &UnixStream, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: so many bytes are there.
        let sent =
            unsafe { libc::send(stream.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        match sent {
            0.. => bytes = &bytes[sent as usize..],
            _ => {
                let e = Error::last_os_error();
                if e.kind() != ErrorKind::Interrupted {
                    return Err(e);
                }
            }
        }
    }
    Ok(())
}
