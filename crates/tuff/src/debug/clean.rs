//! Output that a terminal may show: names and sources of shaders may hold anything.

use std::io::{Result, Write};

/// Lines without what controls terminals. A line that is not whole yet goes out when it is flushed.
pub struct Clean<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Clean<W> {
    pub fn new(out: W) -> Clean<W> {
        Clean { out, line: vec![] }
    }

    fn put(&mut self) -> Result<()> {
        let text = String::from_utf8_lossy(&self.line);
        let (text, end) = text.strip_suffix('\n').map_or((&*text, ""), |t| (t, "\n"));
        write!(self.out, "{}{end}", plain::source(text))?;
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.put()?;
            }
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> Result<()> {
        self.put()?;
        self.out.flush()
    }
}
