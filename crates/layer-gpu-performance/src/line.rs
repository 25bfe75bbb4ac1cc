//! Serialisation: one timeline semaphore over all queues of a device. Submission n waits for n − 1 and signals n.
//!
//! A batch that waits for a value of the program's own timeline semaphore which nothing submitted so far will signal
//! (§ Semaphore Signaling allows that) must stay out of the line: who signals it would stand behind it. So must what
//! follows on its queue, until that batch has ended.

use ash::vk;
use std::collections::HashMap;

/// A semaphore operation: the value is of no meaning for a binary one.
pub(crate) type Operation = (vk::Semaphore, u64);

pub(crate) struct Line {
    pub semaphore: vk::Semaphore,
    /// The last submission's.
    pub value: u64,
    /// The greatest value of each of the program's timeline semaphores that it has, or that the line will signal.
    known: HashMap<vk::Semaphore, u64>,
}

/// What a failed submission takes back.
pub(crate) struct Before {
    value: u64,
    known: Vec<Operation>,
}

impl Line {
    pub fn new(semaphore: vk::Semaphore) -> Line {
        Line { semaphore, value: 0, known: HashMap::new() }
    }

    /// The program has made a timeline semaphore.
    pub fn made(&mut self, semaphore: vk::Semaphore, initial: u64) {
        self.known.insert(semaphore, initial);
    }

    pub fn destroyed(&mut self, semaphore: vk::Semaphore) {
        self.known.remove(&semaphore);
    }

    /// It is signalled, by the host or by a batch that has ended, or will be by one of the line.
    pub fn signals(&mut self, all: &[Operation]) {
        for (s, value) in all {
            if let Some(known) = self.known.get_mut(s) {
                *known = (*known).max(*value);
            }
        }
    }

    /// Whether all of these waits will end without anything that is not submitted yet.
    pub fn will_end(&self, waits: &[Operation]) -> bool {
        waits.iter().all(|(s, value)| self.known.get(s).is_none_or(|known| value <= known))
    }

    /// The next place: what to wait for, if anything, and what to signal.
    pub fn next(&mut self) -> (Option<Operation>, Operation) {
        let wait = (self.value > 0).then_some((self.semaphore, self.value));
        self.value += 1;
        (wait, (self.semaphore, self.value))
    }

    /// What stands now, as far as a submission with these signals can change it.
    pub fn before<'a>(&self, signals: impl Iterator<Item = &'a Operation>) -> Before {
        let known = signals.filter_map(|(s, _)| Some((*s, *self.known.get(s)?))).collect();
        Before { value: self.value, known }
    }

    pub fn restore(&mut self, before: Before) {
        self.value = before.value;
        self.known.extend(before.known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::Handle;

    #[test]
    fn what_waits_for_the_future_is_told() {
        let semaphore = vk::Semaphore::from_raw;
        let mut l = Line::new(semaphore(1));
        assert_eq!(l.next(), (None, (semaphore(1), 1)));
        assert_eq!(l.next(), (Some((semaphore(1), 1)), (semaphore(1), 2)));
        l.made(semaphore(2), 5);
        // Binary semaphores are signalled by what is submitted already (VUID-vkQueueSubmit-pWaitSemaphores-03238).
        assert!(l.will_end(&[(semaphore(2), 5), (semaphore(9), 77)]));
        assert!(!l.will_end(&[(semaphore(2), 6)]));
        let before = l.before([(semaphore(2), 6)].iter());
        l.signals(&[(semaphore(2), 6)]);
        l.next();
        assert!(l.will_end(&[(semaphore(2), 6)]));
        l.restore(before);
        assert!(!l.will_end(&[(semaphore(2), 6)]));
        assert_eq!(l.value, 2);
    }
}
