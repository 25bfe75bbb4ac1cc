//! Which frames are measured, and which frame a batch is of.

use ash::vk;
use parking_lot::Mutex;
use std::ffi::c_void;

/// Frames by number, range and period: `3,10-20,100-200/10,*/50`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Choice {
    /// First, last, period. None: all frames.
    parts: Vec<(u64, u64, u64)>,
}

impl Choice {
    pub fn parse(text: &str) -> Result<Choice, String> {
        if text.trim() == "all" {
            return Ok(Choice::default());
        }
        let number = |n: &str| n.trim().parse::<u64>().map_err(|_| format!("no number: '{n}'"));
        let part = |p: &str| {
            let (range, period) = p.split_once('/').map_or((p, Ok(1)), |(r, n)| (r, number(n)));
            let period = period?;
            if period == 0 {
                return Err("a period of 0".to_string());
            }
            let (first, last) = match range.trim() {
                "*" => (0, u64::MAX),
                range => match range.split_once('-') {
                    None => (number(range)?, number(range)?),
                    Some((first, "")) => (number(first)?, u64::MAX),
                    Some((first, last)) => (number(first)?, number(last)?),
                },
            };
            if last < first {
                Err(format!("'{range}' ends before it begins"))
            } else {
                Ok((first, last, period))
            }
        };
        Ok(Choice { parts: text.split(',').map(part).collect::<Result<_, _>>()? })
    }

    /// Work of no frame is measured where all frames are.
    pub fn has(&self, frame: Option<u64>) -> bool {
        self.parts.is_empty()
            || frame.is_some_and(|f| {
                self.parts.iter().any(|&(first, last, n)| first <= f && f <= last && (f - first) % n == 0)
            })
    }
}

/// A device's frames. Like the driver's ledger: a batch is of the frame that its VkFrameBoundaryEXT numbers; where no
/// batch has one, of the next present's. Batches without a number are of no frame, once there are numbers.
#[derive(Default)]
pub(crate) struct Frames(Mutex<State>);

#[derive(Default)]
struct State {
    told: bool,
    presents: u64,
}

impl Frames {
    /// The frame of a batch with this chain.
    ///
    /// # Safety
    /// A valid chain.
    pub unsafe fn of_batch(&self, p_next: *const c_void) -> Option<u64> {
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            let mut s = self.0.lock();
            match crate::chain::find::<vk::FrameBoundaryEXT>(p_next) {
                Some(f) => {
                    s.told = true;
                    Some(f.frame_id)
                }
                None => (!s.told).then_some(s.presents),
            }
        }
    }

    pub fn presented(&self) {
        self.0.lock().presents += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_by_number_range_and_period() {
        let has = |text: &str| {
            let c = Choice::parse(text).unwrap();
            (0..30).filter(|f| c.has(Some(*f))).collect::<Vec<_>>()
        };
        assert_eq!(has("3"), [3]);
        assert_eq!(has("3, 5-7"), [3, 5, 6, 7]);
        assert_eq!(has("1-20/5"), [1, 6, 11, 16]);
        assert_eq!(has("27-"), [27, 28, 29]);
        assert_eq!(has("*/10,1"), [0, 1, 10, 20]);
        assert_eq!(has("all").len(), 30);
        assert!(Choice::parse("all").unwrap().has(None));
        assert!(!Choice::parse("*").unwrap().has(None));
        for wrong in ["", "x", "3-1", "3/0", "1-2-3"] {
            assert!(Choice::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_batch_is_of_the_frame_that_it_names_or_of_the_next_presents() {
        let frames = Frames::default();
        let of = |id: Option<u64>| {
            let boundary = vk::FrameBoundaryEXT::default().frame_id(id.unwrap_or(0));
            let chain = if id.is_some() { (&raw const boundary).cast() } else { std::ptr::null() };
            // SAFETY: a valid chain.
            unsafe { frames.of_batch(chain) }
        };
        assert_eq!(of(None), Some(0));
        frames.presented();
        assert_eq!(of(None), Some(1));
        assert_eq!(of(Some(40)), Some(40));
        assert_eq!(of(None), None);
    }
}
