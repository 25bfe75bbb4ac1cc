//! The channel of another process, which runs with `TUFF_LISTEN` (docs/channel.md, "From another process").
//!
//! ```no_run
//! use channel::remote::{Line, Remote};
//! # fn main() -> std::io::Result<()> {
//! let mut remote = Remote::connect("/run/user/1000/tuff/4711.sock")?;
//! println!("{}", remote.totals(&["MaliGPUActiveCy"])?["MaliGPUActiveCy"]);
//! for line in remote.read(&["MaliExtBusRdBt"])? {
//!     if let Line::Record(record) = line? {
//!         println!("{} {} {} ns", record.kind, record.name, record.span[1] - record.span[0]);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Bytes of a line, at most: whatever listens there is not trusted with this process's memory.
const MAX_LINE: u64 = 1 << 20;

/// Values of counters, by their machines' names; whole numbers up to 2^53 are exact.
pub type Values = BTreeMap<String, f64>;

/// A process that listens.
#[derive(Debug)]
pub struct Remote {
    stream: BufReader<UnixStream>,
}

/// Whose channel it is.
#[derive(Clone, Debug, Deserialize)]
pub struct Info {
    /// The protocol's version.
    pub tuff: u32,
    pub process: u32,
    pub program: String,
    /// The name of the modelled GPU.
    pub gpu: String,
    pub counters: Vec<Counter>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Counter {
    pub id: u32,
    /// `MaliFragWarp`.
    pub machine: String,
    /// `Fragment warps`.
    pub name: String,
    pub unit: String,
    pub block: String,
    pub float: bool,
}

/// A workload that has finished, or a mark.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    pub order: u64,
    pub queue_order: u64,
    pub submission: u64,
    pub device: u32,
    pub queue: u32,
    /// `dispatch`, `trace rays`, `render pass`, `transfer`, `mark`, or what a newer driver has.
    pub kind: String,
    pub views: u32,
    pub frame: Option<u64>,
    /// Begin and end in modelled time, in nanoseconds.
    pub span: [u64; 2],
    pub label: String,
    pub name: String,
    /// What took longest in its longest phase.
    #[serde(default)]
    pub bound: Option<String>,
    pub counters: Values,
}

/// What comes while records are read.
#[derive(Clone, Debug)]
pub enum Line {
    Record(Record),
    /// So many records were lost since the reading began.
    Lost(u64),
    /// The process ends.
    Ended,
}

/// Any line, by the members that it has.
#[derive(Deserialize)]
struct Answer {
    error: Option<String>,
    totals: Option<Values>,
    lost: Option<u64>,
    #[serde(default)]
    ended: bool,
    #[serde(default)]
    reading: bool,
}

fn wrong(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

impl Remote {
    /// Connects to a socket.
    ///
    /// # Errors
    /// Nobody listens there, or the socket is another user's.
    pub fn connect(path: impl AsRef<Path>) -> Result<Remote> {
        Ok(Remote { stream: BufReader::new(UnixStream::connect(path)?) })
    }

    /// How long an answer, and the next record, may take; by default for ever. After that, reads fail with `WouldBlock`.
    ///
    /// # Errors
    /// A time of zero.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.stream.get_ref().set_read_timeout(timeout)
    }

    /// # Errors
    /// The process has gone, or what listens is no channel.
    pub fn info(&mut self) -> Result<Info> {
        self.ask("info", &[])?;
        let line = self.line()?;
        self.checked(&line)?;
        serde_json::from_str(&line).map_err(wrong)
    }

    /// What all devices have finished since the process began.
    ///
    /// # Errors
    /// The process has gone, or has no such counter.
    pub fn totals(&mut self, counters: &[&str]) -> Result<Values> {
        self.ask("totals", counters)?;
        let line = self.line()?;
        self.checked(&line)?.totals.ok_or_else(|| wrong("no totals"))
    }

    /// Workloads and marks that finish from when this returns, with these counters.
    ///
    /// # Errors
    /// The process has gone, or has no such counter.
    pub fn read(self, counters: &[&str]) -> Result<Records> {
        self.records("read", counters)
    }

    /// The same, after those that have finished since the process began: as many as it has kept, for the first that asks.
    ///
    /// # Errors
    /// The process has gone, or has no such counter.
    pub fn all(self, counters: &[&str]) -> Result<Records> {
        self.records("all", counters)
    }

    fn records(mut self, what: &str, counters: &[&str]) -> Result<Records> {
        self.ask(what, counters)?;
        let line = self.line()?;
        match self.checked(&line)?.reading {
            true => Ok(Records { remote: self, part: vec![] }),
            false => Err(wrong("it does not read")),
        }
    }

    fn ask(&mut self, what: &str, counters: &[&str]) -> Result<()> {
        let mut line = what.to_string();
        for counter in counters {
            line.push(' ');
            line.push_str(counter);
        }
        line.push('\n');
        self.stream.get_mut().write_all(line.as_bytes())
    }

    fn line(&mut self) -> Result<String> {
        self.whole(&mut vec![])
    }

    /// The line that begins with these bytes; what came before an error stays in them.
    fn whole(&mut self, bytes: &mut Vec<u8>) -> Result<String> {
        let room = MAX_LINE.saturating_sub(bytes.len() as u64);
        let read = (&mut self.stream).take(room).read_until(b'\n', bytes)?;
        match bytes.last() {
            Some(b'\n') => String::from_utf8(std::mem::take(bytes)).map_err(wrong),
            _ if read == 0 && room > 0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Err(wrong("a line that does not end")),
        }
    }

    fn checked(&self, line: &str) -> Result<Answer> {
        let answer: Answer = serde_json::from_str(line).map_err(wrong)?;
        match answer.error {
            Some(why) => Err(Error::other(why)),
            None => Ok(answer),
        }
    }
}

/// Records of a process, until it ends: an iterator that ends after [`Line::Ended`] or an error.
#[derive(Debug)]
pub struct Records {
    remote: Remote,
    /// Of a line that has not come whole.
    part: Vec<u8>,
}

impl Records {
    /// As [`Remote::set_timeout`].
    ///
    /// # Errors
    /// A time of zero.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.remote.set_timeout(timeout)
    }

    /// The next line; `WouldBlock`: none came in time, and more may.
    ///
    /// # Errors
    /// The process has gone, or what it says is no line.
    pub fn line(&mut self) -> Result<Line> {
        let line = self.remote.whole(&mut self.part)?;
        let answer = self.remote.checked(&line)?;
        match answer.lost {
            Some(lost) => Ok(Line::Lost(lost)),
            None if answer.ended => Ok(Line::Ended),
            None => serde_json::from_str(&line).map(Line::Record).map_err(wrong),
        }
    }
}

impl Iterator for Records {
    type Item = Result<Line>;
    fn next(&mut self) -> Option<Result<Line>> {
        match self.line() {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => None,
            line => Some(line),
        }
    }
}
