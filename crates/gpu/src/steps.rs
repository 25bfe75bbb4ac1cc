//! What a submission does that other queues, or the host, may wait for, or that waits for them: [`machine::turns`] orders queues by it.

use crate::command::{CommandList, SemaphoreOp, Submission, Tie};
use machine::turns::Step;
use std::sync::Arc;

fn signal(s: &SemaphoreOp) -> Step {
    Step::Signal(s.semaphore.clone(), s.value)
}

/// The steps of a submission. They own what they tell of.
pub fn steps(s: &Submission) -> impl Iterator<Item = Step> + Send + use<> {
    let waits: Vec<Step> = s.waits.iter().map(|w| Step::Wait(w.semaphore.clone(), w.value)).collect();
    let lists: Vec<_> =
        s.lists.iter().filter(|(l, stripes)| !l.ties.is_empty() || !stripes.is_empty()).cloned().collect();
    let inside = Inside { lists: lists.into_iter(), ..Inside::default() };
    let signals: Vec<Step> = s.signals.iter().map(signal).collect();
    waits.into_iter().chain([Step::Begin]).chain(inside).chain(signals)
}

/// What command lists do, one after the other.
#[derive(Default)]
struct Inside {
    lists: std::vec::IntoIter<(Arc<CommandList>, Vec<SemaphoreOp>)>,
    /// The lists under way, the outermost first, and how far each is.
    under_way: Vec<(Arc<CommandList>, usize)>,
    stripes: std::vec::IntoIter<SemaphoreOp>,
    /// So many of those are next.
    due: usize,
}

impl Iterator for Inside {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            if self.due > 0 {
                self.due -= 1;
                match self.stripes.next() {
                    Some(s) => return Some(signal(&s)),
                    None => self.due = 0,
                }
            }
            let Some((list, at)) = self.under_way.last_mut() else {
                let (list, stripes) = self.lists.next()?;
                (self.under_way, self.stripes) = (vec![(list, 0)], stripes.into_iter());
                continue;
            };
            let tie = list.ties.get(*at).cloned();
            *at += 1;
            match tie {
                Some(Tie::Set(e)) => return Some(Step::Set(e)),
                Some(Tie::Reset(e)) => return Some(Step::Reset(e)),
                Some(Tie::Wait(e)) => return Some(Step::WaitEvents(e)),
                Some(Tie::Stripes(n)) => self.due = n,
                Some(Tie::Execute(l)) => self.under_way.push((l, 0)),
                None => {
                    self.under_way.pop();
                    // Semaphores for which there was no stripe are signalled too.
                    self.due = if self.under_way.is_empty() { self.stripes.len() } else { 0 };
                }
            }
        }
    }
}
