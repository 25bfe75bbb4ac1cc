//! A performance monitor: what it samples, and how far its session is.

use crate::groups::Groups;
use crate::marks::{self, Pair, Reached};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a result is waited for once GL says that the GPU has done everything.
const PATIENCE: Duration = Duration::from_secs(10);

/// A monitor's session, by its marks.
#[derive(Debug, Default)]
pub enum Session {
    /// No result: before the first End, and after Select.
    #[default]
    None,
    Active {
        begin: u64,
    },
    /// Ended by the program, not yet by the GPU.
    Ended {
        begin: u64,
        end: u64,
        /// Whether the end was sent to the GPU because somebody asks for it.
        sent: bool,
    },
    Done(Vec<u8>),
}

#[derive(Default)]
pub struct Monitor {
    /// Group, and place of the counter in it: results come in this order.
    selected: BTreeSet<(usize, usize)>,
    session: Session,
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Monitor {
    pub fn is_active(&self) -> bool {
        matches!(self.session, Session::Active { .. })
    }

    /// Whether a session has been ended and its result not been made invalid.
    pub fn has_ended(&self) -> bool {
        matches!(self.session, Session::Ended { .. } | Session::Done(_))
    }

    fn forget(&mut self) {
        match std::mem::take(&mut self.session) {
            Session::None | Session::Done(_) => {}
            Session::Active { begin } => marks::forget(&[begin]),
            Session::Ended { begin, end, .. } => marks::forget(&[begin, end]),
        }
    }

    /// Results become invalid. A session that is active goes on from here: its new first mark is told.
    pub fn select(&mut self, enable: bool, group: usize, places: &[usize]) -> Option<u64> {
        for &place in places {
            if enable {
                self.selected.insert((group, place));
            } else {
                self.selected.remove(&(group, place));
            }
        }
        let active = self.is_active();
        self.forget();
        active.then(|| self.begin())
    }

    /// Whether a session could sample what is selected.
    pub fn fits(&self, groups: &Groups) -> bool {
        let of = |g: usize| self.selected.range((g, 0)..(g + 1, 0)).count();
        groups.all.iter().enumerate().all(|(i, g)| of(i) <= g.max_active())
    }

    /// The mark that begins a session.
    pub fn begin(&mut self) -> u64 {
        self.forget();
        let begin = marks::new();
        self.session = Session::Active { begin };
        begin
    }

    /// The mark that ends the active session; `None` where there is none.
    pub fn end(&mut self) -> Option<u64> {
        let Session::Active { begin } = self.session else { return None };
        let end = marks::new();
        self.session = Session::Ended { begin, end, sent: false };
        Some(end)
    }

    /// Bytes of the result, whether or not it is available.
    pub fn size(&self, groups: &Groups) -> usize {
        if !self.has_ended() {
            return 0;
        }
        self.selected.iter().map(|&(g, c)| 8 + groups.all[g].members[c].ty.size()).sum()
    }

    /// Takes the result if it has come; whether the end must be sent to the GPU for it to come.
    pub fn poll(&mut self, groups: &Groups) -> bool {
        let Session::Ended { begin, end, sent } = self.session else { return false };
        self.settle(groups, marks::poll(begin, end));
        match &mut self.session {
            Session::Ended { sent: now, .. } => {
                *now = true;
                !sent
            }
            _ => false,
        }
    }

    /// The marks that a session waits for.
    pub fn awaited(&self) -> Option<(u64, u64)> {
        match self.session {
            Session::Ended { begin, end, .. } => Some((begin, end)),
            _ => None,
        }
    }

    /// Of marks that were waited for with nothing locked.
    pub fn take(&mut self, groups: &Groups, marks: (u64, u64), pair: Pair) {
        // Meanwhile another session may have begun.
        if self.awaited() == Some(marks) {
            let pair = if matches!(pair, Pair::Waiting) { Pair::Lost } else { pair };
            self.settle(groups, pair);
        }
    }

    fn settle(&mut self, groups: &Groups, pair: Pair) {
        let difference = match pair {
            Pair::Waiting => return,
            Pair::Came(b, e) => difference(&b, &e),
            Pair::Lost => None,
        };
        let values = difference.and_then(|events| groups.channel.evaluate(&events));
        if values.is_none() {
            eprintln!("tuff: a performance monitor's session could not be counted; its values are 0");
        }
        let mut bytes = Vec::with_capacity(self.size(groups));
        for &(g, c) in &self.selected {
            let member = &groups.all[g].members[c];
            let value = values.as_ref().and_then(|v| v.get(member.place).copied());
            bytes.extend((g as u32).to_ne_bytes());
            bytes.extend(member.id.to_ne_bytes());
            bytes.extend(member.ty.bytes(value.unwrap_or(channel::Value::Uint64(0))));
        }
        self.forget();
        self.session = Session::Done(bytes);
    }

    pub fn result(&self) -> Option<&[u8]> {
        match &self.session {
            Session::Done(bytes) => Some(bytes),
            _ => None,
        }
    }
}

pub fn wait((begin, end): (u64, u64)) -> Pair {
    marks::wait(begin, end, PATIENCE)
}

/// What a queue has counted between two marks; `None` if they are of different queues, or in the wrong order.
fn difference(begin: &Reached, end: &Reached) -> Option<Vec<u64>> {
    if begin.queue != end.queue || begin.events.len() != end.events.len() {
        return None;
    }
    end.events.iter().zip(&begin.events).map(|(e, b)| e.checked_sub(*b)).collect()
}
