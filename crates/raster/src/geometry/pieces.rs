//! A draw in pieces: chunks of its primitives, or of its mesh workgroups, one after the other or on several threads.

use super::assembly::Assembled;
use super::feedback::Feedback;
use super::line::Stipple;
use super::vertex::Vertices;
use super::{Batch, parallel, stages};
use machine::count;
use machine::shared::Shared;
use std::cell::RefCell;
use std::ops::Range;
use wave::{Stop, Worker};

/// What a thread keeps from draw to draw.
#[derive(Default)]
pub(super) struct Scratch {
    pub chunk: Assembled,
    pub vertices: Vertices,
    pub stages: stages::Scratch,
    pub mesh: super::mesh::Pending,
}

thread_local! {
    static SCRATCH: RefCell<Box<Scratch>> = RefCell::default();
}

/// Runs `f` with the thread's scratch.
pub(super) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(|s| f(s))
}

/// Chunks whose primitives are handed on together: some two million. A draw may have 2⁶⁴.
const RANGE: u64 = 2048;

/// A draw that is ready to be run piece by piece.
pub(super) trait Pieces: Sync {
    fn count(&self) -> u64;
    /// Primitives to expect, and what of each lies in lists ([`super::Batch::expect`]).
    fn expected(&self) -> usize;
    fn lists(&self) -> [usize; 2];
    /// Transform feedback as it is once `pieces` more have been captured; `None`: nobody knows before they have run.
    fn advanced(&self, feedback: &Feedback, pieces: Range<u64>) -> Option<Feedback>;
    /// Runs piece `c` and appends what it makes.
    fn run(
        &self,
        worker: &mut Worker,
        c: u64,
        s: &mut Scratch,
        stipple: &mut Stipple,
        feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop>;
    /// Adds what the worker has counted.
    fn take(&self, worker: &mut Worker, out: &mut Batch);
}

/// Why pieces stopped.
pub(super) enum Halt {
    Stop(Stop),
    /// There is no memory for what they make.
    Memory,
}

/// Runs all pieces into `out` and hands that to `each`, in order, until that says false; what comes next goes where `each` leaves it. `in_turn`: each goes on from where the one
/// before it has come to.
pub(super) fn deal(
    shared: &Shared,
    work: &dyn Pieces,
    in_turn: bool,
    mut feedback: Option<&mut Feedback>,
    out: &mut Box<Batch>,
    each: &mut dyn FnMut(&mut Box<Batch>) -> bool,
) -> Result<(), Halt> {
    let pieces = work.count();
    let mut stipple = Stipple::default();
    for first in (0..pieces).step_by(RANGE as usize) {
        let range = first..pieces.min(first + RANGE);
        let threads = (shared.pool.threads() as u64).min(range.end - range.start) as usize;
        let after = feedback.as_deref().map(|f| work.advanced(f, range.clone()));
        let result = if threads <= 1 || in_turn || matches!(after, Some(None)) {
            serial(shared, work, range, &mut stipple, feedback.as_deref_mut(), out)
        } else {
            let result = parallel::run(shared, threads, work, range, feedback.as_deref(), out);
            if let (Some(feedback), Some(Some(after))) = (feedback.as_deref_mut(), after) {
                *feedback = after;
            }
            result
        };
        result.map_err(Halt::Stop)?;
        if out.short {
            return Err(Halt::Memory);
        }
        if shared.hub.stops() || !each(out) {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs pieces one after the other.
fn serial(
    shared: &Shared,
    work: &dyn Pieces,
    range: Range<u64>,
    stipple: &mut Stipple,
    mut feedback: Option<&mut Feedback>,
    out: &mut Batch,
) -> Result<(), Stop> {
    let expected = work.expected();
    out.expect(expected, work.lists());
    with_worker(shared, |worker| {
        with_scratch(|scratch| {
            let mut counted = Ok(());
            for c in range {
                if shared.hub.stops() {
                    break;
                }
                worker.tally.trace(shared.traced(c, work.count(), count::TRACED));
                counted = work.run(worker, c, scratch, stipple, feedback.as_deref_mut(), out);
                if counted.is_err() || out.short {
                    break;
                }
            }
            work.take(worker, out);
            counted
        })
    })
}

pub(super) fn with_worker<R>(shared: &Shared, f: impl FnOnce(&mut Worker) -> R) -> R {
    let mut worker = shared.worker();
    let result = f(&mut worker);
    shared.workers.give(worker);
    result
}
