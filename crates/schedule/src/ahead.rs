//! Jobs of a line that are handed out together: what each waits for, before it is known when any of them runs.
//!
//! A line's jobs at a queue of the front end end in their order, so how many of each queue have to have ended says it all.

use crate::gpu::{Front, Gpu, Ran, Waiting};
use crate::line::{CLASSES, Class, Line, Scope, Stages, Transfer};
use counters::{Job, Model, Phase};

/// A time that is known, and jobs that have to have ended.
#[derive(Clone, Copy, Default, Debug)]
struct After {
    from: u64,
    jobs: [usize; Front::COUNT],
}

impl After {
    fn at(from: u64) -> After {
        After { from, ..After::default() }
    }
    fn and(self, o: After) -> After {
        After { from: self.from.max(o.from), jobs: std::array::from_fn(|f| self.jobs[f].max(o.jobs[f])) }
    }
}

struct Handed {
    front: Front,
    after: After,
    job: Job,
}

/// What a line hands out next, in its order.
pub struct Ahead {
    /// As of [`Line`].
    done: [After; CLASSES],
    ready: [After; CLASSES],
    last: [u64; Front::COUNT],
    handed: [usize; Front::COUNT],
    jobs: Vec<Handed>,
}

impl Ahead {
    pub(crate) fn new(done: &[u64; CLASSES], ready: &[u64; CLASSES], last: &[u64; Front::COUNT]) -> Ahead {
        let (done, ready) = (done.map(After::at), ready.map(After::at));
        Ahead { done, ready, last: *last, handed: [0; Front::COUNT], jobs: vec![] }
    }

    /// How many jobs there are.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// As [`Line::barrier`].
    pub fn barrier(&mut self, src: Stages, dst: Stages) {
        let first = Scope::of(src, true);
        let done = first.each().map(|c| self.done[c].and(self.ready[c])).reduce(After::and);
        let done = done.unwrap_or(After::at(1));
        Scope::of(dst, false).each().for_each(|c| self.ready[c] = self.ready[c].and(done));
    }

    /// As [`Line::dispatch`].
    pub fn dispatch(&mut self, job: &Job) {
        self.hand(Front::Compute, Class::Compute, After::default(), job);
    }

    /// As [`Line::transfer`].
    pub fn transfer(&mut self, t: Transfer, phase: Phase, job: &Job) {
        let (front, class) = Line::transfers(t, phase);
        self.hand(front, class, After::default(), job);
    }

    /// As [`Line::pass`].
    pub fn pass(&mut self, [binning, main]: [&Job; 2]) {
        let binned = self.hand(Front::Binning, Class::Binning, After::default(), binning);
        self.hand(Front::Main, Class::Main, binned, main);
    }

    fn hand(&mut self, front: Front, class: Class, from: After, job: &Job) -> After {
        let after = from.and(self.ready[class as usize]).and(After::at(self.last[front as usize]));
        self.jobs.push(Handed { front, after, job: *job });
        self.handed[front as usize] += 1;
        let mut ended = After::default();
        ended.jobs[front as usize] = self.handed[front as usize];
        let done = &mut self.done[class as usize];
        *done = done.and(ended);
        ended
    }

    /// When each runs.
    pub fn run<'a>(&'a self, gpu: &mut Gpu, m: &Model) -> Vec<Ran> {
        let waiting =
            |h: &'a Handed| Waiting { front: h.front, job: &h.job, from: h.after.from, after: h.after.jobs };
        gpu.run_all(&self.jobs.iter().map(waiting).collect::<Vec<_>>(), m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Known, Runs};
    use counters::cost::Uses;

    /// Cycles that are nanoseconds.
    fn model() -> Model {
        Model { clock_mhz: 1000, ..Model::default() }
    }

    /// A job of so many cycles of all ten cores' units, that takes as long as so many bytes of memory if these take longer.
    fn job(cores: u64, memory: u64) -> Job {
        let cycles = cores.max(memory);
        let uses = Uses { cores: 10 * cores, ..Uses::default() };
        let held = if cycles > 0 { 10 * cycles } else { 0 };
        Job { cycles, core: held, exec: held, bytes: memory * 56, uses, ..Job::default() }
    }

    enum Step {
        Dispatch(Job),
        Pass(Job, Job),
        Barrier(Stages, Stages),
    }
    use Step::*;

    /// When each dispatch and pass began and ended.
    fn run(steps: &[Step]) -> Vec<[u64; 2]> {
        let (m, mut line, mut gpu) = (model(), Line::default(), Gpu::default());
        let mut ahead = line.ahead();
        for s in steps {
            match s {
                Dispatch(j) => ahead.dispatch(j),
                Pass(b, d) => ahead.pass([b, d]),
                Barrier(src, dst) => ahead.barrier(*src, *dst),
            }
        }
        let mut known = Known(ahead.run(&mut gpu, &m).into());
        let mut all = vec![];
        for s in steps {
            match s {
                Dispatch(j) => {
                    let r = line.dispatch(&mut known, j, &m);
                    all.push([r.begin, r.end]);
                }
                Pass(b, d) => {
                    let [b, d] = line.pass(&mut known, [b, d], &m);
                    all.push([if b.end > b.begin { b.begin } else { d.begin }, d.end]);
                }
                Barrier(src, dst) => line.barrier(*src, *dst),
            }
        }
        all
    }

    /// A dispatch that all cores work 1000 cycles for; a pass whose memory takes 2000, and its cores 400. Together they want 1 + 0.2 of
    /// the cores: both go at 5/6 of their pace until the dispatch has ended at 1200; then 1000 of the pass's cycles are left.
    #[test]
    fn the_order_does_not_matter() {
        let (alu, stream, none) = (job(1000, 0), job(400, 2000), Job::default());
        let near = |got: &[u64; 2], want: [u64; 2]| {
            assert!(got[0] == want[0] && got[1].abs_diff(want[1]) <= 2, "{got:?} {want:?}");
        };
        let first = run(&[Dispatch(alu), Pass(none, stream)]);
        near(&first[0], [1, 1201]);
        near(&first[1], [1, 2201]);
        let last = run(&[Pass(none, stream), Dispatch(alu)]);
        near(&last[1], [1, 1201]);
        near(&last[0], [1, 2201]);
        // A barrier between them costs what it serialises.
        let apart = run(&[
            Dispatch(alu),
            Barrier(Stages::COMPUTE_SHADER, Stages::FRAGMENT_SHADER),
            Pass(none, stream),
        ]);
        assert_eq!(apart, [[1, 1001], [1001, 3001]]);
    }

    /// Frames of 300 cycles of binning, which the tiler takes (its shading 30 of the cores), and 1000 of drawing: the next one's binning
    /// runs during that, unless a barrier makes it wait.
    #[test]
    fn binning_hides_behind_drawing() {
        let bin = Job { cycles: 300, ..job(30, 0) };
        let frame = || Pass(bin, job(1000, 0));
        let ends = |steps: &[Step]| run(steps).iter().map(|t| t[1]).collect::<Vec<_>>();
        let free = ends(&[frame(), frame()]);
        // Binning wants a tenth of the cores: for 300 · 1.1 = 330 cycles drawing goes at 1/1.1, and 700 cycles are left.
        assert!(
            free[0].abs_diff(1 + 300 + 330 + 700) <= 2 && free[1].abs_diff(free[0] + 1000) <= 2,
            "{free:?}"
        );
        let barrier = Barrier(Stages::FRAGMENT_SHADER, Stages::VERTEX_SHADER);
        assert_eq!(ends(&[frame(), barrier, frame()]), [1301, 2601]);
    }

    /// What a submission before was told stays.
    #[test]
    fn what_was_told_stays() {
        let (m, mut gpu) = (model(), Gpu::default());
        let told = gpu.run(Front::Compute, 1, &job(1000, 0), &m);
        let mut line = Line::default();
        let mut ahead = line.ahead();
        let (none, stream) = (Job::default(), job(400, 2000));
        ahead.pass([&none, &stream]);
        let mut known = Known(ahead.run(&mut gpu, &m).into());
        let [_, drawn] = line.pass(&mut known, [&none, &stream], &m);
        assert_eq!((told.end, drawn.begin, drawn.end), (1001, 1001, 3001));
    }
}
