//! What `TUFF_DEBUG` records.

use crate::Kind;
use std::ffi::OsStr;

/// An invocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invocation {
    /// Column and row in the framebuffer.
    Pixel([u32; 2]),
    /// VertexIndex, InstanceIndex.
    Vertex([u32; 2]),
    /// GlobalInvocationId.
    Thread([u32; 3]),
}

/// An invocation in what part of a run, and how much may be kept of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aim {
    pub invocation: Invocation,
    /// Counted from 1; `None`: the first frame that has the invocation.
    pub frame: Option<u64>,
    /// The draw or dispatch of the frame, from 0; `None`: all.
    pub draw: Option<u32>,
    /// MiB.
    pub limit: u32,
    /// The process gets SIGTERM when all has been recorded.
    pub ends: bool,
}

/// MiB of records, where nothing else is said, and at most: a record's place has 32 bits.
pub const LIMIT: u32 = 64;
pub const MAX_LIMIT: u32 = 4096;

/// `pixel:3,4;frame:1;draw:2;limit:64;end`
pub struct Aims;

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let all: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    all?.try_into().ok()
}

impl Kind for Aims {
    type Value = Aim;
    fn read(&self, text: &OsStr) -> Option<Aim> {
        let mut words = text.to_str()?.split(';');
        let (kind, at) = words.next()?.split_once(':')?;
        let invocation = match kind {
            "pixel" => Invocation::Pixel(numbers(at)?),
            "vertex" => Invocation::Vertex(numbers(at)?),
            "thread" => Invocation::Thread(numbers(at)?),
            _ => return None,
        };
        let mut aim = Aim { invocation, frame: None, draw: None, limit: LIMIT, ends: false };
        for word in words {
            match word.split_once(':').unwrap_or((word, "")) {
                ("frame", n) => aim.frame = Some(n.parse().ok().filter(|n| *n > 0)?),
                ("draw", n) => aim.draw = Some(n.parse().ok()?),
                ("limit", n) => aim.limit = n.parse().ok().filter(|n| (1..=MAX_LIMIT).contains(n))?,
                ("end", "") => aim.ends = true,
                _ => return None,
            }
        }
        Some(aim)
    }
    fn allowed(&self) -> String {
        "pixel:X,Y, vertex:V,I or thread:X,Y,Z, and after it ;frame:N ;draw:N ;limit:MIB ;end".into()
    }
    fn form(&self) -> String {
        r"pixel:X,Y\|vertex:V,I\|thread:X,Y,Z".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aims() {
        let read = |text: &str| Aims.read(OsStr::new(text));
        let pixel =
            Aim { invocation: Invocation::Pixel([3, 4]), frame: None, draw: None, limit: LIMIT, ends: false };
        assert_eq!(read("pixel:3,4"), Some(pixel.clone()));
        let all = Aim { frame: Some(2), draw: Some(0), limit: 7, ends: true, ..pixel };
        assert_eq!(read("pixel:3,4;limit:7;end;frame:2;draw:0"), Some(all));
        assert_eq!(read("thread:1,2,3").map(|a| a.invocation), Some(Invocation::Thread([1, 2, 3])));
        for bad in [
            "",
            "pixel",
            "pixel:1",
            "pixel:1,2,3",
            "pixel:-1,2",
            "ray:1,2,3",
            "pixel:1,2;frame:0",
            "pixel:1,2;x",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
