//! One Vulkan queue's line of modelled time.

use crate::ahead::Ahead;
use crate::gpu::{Front, Gpu, Ran, Runs};
use ash::vk;
use counters::bound::Wait;
use counters::{Job, Model, Phase};
pub(crate) use vk::PipelineStageFlags2 as Stages;

/// VK_PIPELINE_STAGE_2_DATA_GRAPH_BIT_ARM
const DATA_GRAPH: u64 = 1 << 42;

/// Kinds of work that barriers tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Binning,
    Compute,
    Main,
    Copy,
    Blit,
    Resolve,
    Clear,
    Structure,
}
pub(crate) const CLASSES: usize = 8;
/// VK_PIPELINE_STAGE_2_COPY_INDIRECT_BIT_KHR, which ash lacks.
const COPY_INDIRECT: u64 = 1 << 46;
/// VK_PIPELINE_STAGE_2_CONVERT_COOPERATIVE_VECTOR_MATRIX_BIT_NV: conversions are copies here.
const CONVERT_MATRIX: u64 = 1 << 44;

/// A transfer, as stages tell them apart (§ Pipeline Stages); on the compute queue or the main queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    Copy,
    Blit,
    Resolve,
    /// Of an image; or a fill or update of a buffer.
    Clear,
    /// A build or copy of acceleration structures.
    Structure,
}

/// When something ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    pub begin: u64,
    pub end: u64,
}

/// The timestamps of a queue: they do not run backwards, whatever they tell of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told(u64);

impl Told {
    /// One that would say `t`. Those of the same time are equal: if each were a tick later than the last, what begins with the
    /// last would be measured a tick short.
    pub fn tell(&mut self, t: u64) -> u64 {
        self.0 = t.max(self.0);
        self.0
    }
}

/// Ticks of one Vulkan queue's work; see the module's text.
#[derive(Clone, Debug)]
pub struct Line {
    /// All work of each class so far ends here.
    done: [u64; CLASSES],
    /// Work of each class may not begin before.
    ready: [u64; CLASSES],
    /// This queue's jobs at each of the front end's queues end here: they stay in order.
    last: [u64; Front::COUNT],
    /// The last workload, or wait of everything, began: how far the front end has come.
    front: u64,
    /// The last workload began, or its batch could: how far command streams have come that wait for nothing.
    reached: u64,
    told: Told,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            done: [1; CLASSES],
            ready: [1; CLASSES],
            last: [1; Front::COUNT],
            front: 1,
            reached: 1,
            told: Told::default(),
        }
    }
}

/// A set of classes, and whether the front end itself belongs to it.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    classes: [bool; CLASSES],
    front: bool,
}

impl Scope {
    /// § Pipeline Stages. `first`: the first scope of a dependency, which takes logically earlier stages in; else the
    /// second, which takes later ones in.
    pub(crate) fn of(stages: Stages, first: bool) -> Scope {
        let any = |s: Stages| stages.intersects(s);
        let everything =
            any(Stages::ALL_COMMANDS | if first { Stages::BOTTOM_OF_PIPE } else { Stages::TOP_OF_PIPE });
        let graphics = everything || any(Stages::ALL_GRAPHICS);
        // What draws and dispatches read before they begin.
        let before = any(Stages::DRAW_INDIRECT | Stages::CONDITIONAL_RENDERING_EXT);
        let early = before
            || any(Stages::VERTEX_INPUT
                | Stages::INDEX_INPUT
                | Stages::VERTEX_ATTRIBUTE_INPUT
                | Stages::VERTEX_SHADER
                | Stages::TESSELLATION_CONTROL_SHADER
                | Stages::TESSELLATION_EVALUATION_SHADER
                | Stages::GEOMETRY_SHADER
                | Stages::PRE_RASTERIZATION_SHADERS
                | Stages::TRANSFORM_FEEDBACK_EXT);
        let late = any(Stages::FRAGMENT_SHADER
            | Stages::EARLY_FRAGMENT_TESTS
            | Stages::LATE_FRAGMENT_TESTS
            | Stages::COLOR_ATTACHMENT_OUTPUT
            | Stages::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR
            | Stages::FRAGMENT_DENSITY_PROCESS_EXT);
        let mut classes = [false; CLASSES];
        classes[Class::Binning as usize] = graphics || early || (late && first);
        classes[Class::Main as usize] = graphics || late || (early && !first);
        classes[Class::Compute as usize] = everything
            || any(Stages::COMPUTE_SHADER | Stages::RAY_TRACING_SHADER_KHR | Stages::from_raw(DATA_GRAPH))
            || (!first && before);
        for (class, stage) in [
            (Class::Copy, Stages::COPY),
            (Class::Blit, Stages::BLIT),
            (Class::Resolve, Stages::RESOLVE),
            (Class::Clear, Stages::CLEAR),
        ] {
            classes[class as usize] = everything || any(Stages::ALL_TRANSFER | stage);
        }
        classes[Class::Structure as usize] = everything
            || any(Stages::ACCELERATION_STRUCTURE_BUILD_KHR | Stages::ACCELERATION_STRUCTURE_COPY_KHR)
            || (!first && before);
        // What says what to copy is read before the copy.
        let asks = Stages::from_raw(COPY_INDIRECT | CONVERT_MATRIX);
        classes[Class::Copy as usize] |= any(asks);
        Scope { classes, front: everything }
    }
    pub(crate) fn each(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CLASSES).filter(|c| self.classes[*c])
    }
}

impl Line {
    /// Nothing that follows begins before `t`.
    pub fn floor(&mut self, t: u64) {
        self.ready.iter_mut().for_each(|r| *r = (*r).max(t));
        self.front = self.front.max(t);
        self.reached = self.reached.max(t);
    }

    /// A timestamp: when everything so far that `stages` take in has ended; for none, how far the front end has come.
    pub fn stamp(&mut self, stages: Stages) -> u64 {
        let t = Scope::of(stages, true).each().map(|c| self.done[c]).fold(self.front, u64::max);
        self.told.tell(t)
    }
    /// The timestamps so far.
    pub fn told(&self) -> Told {
        self.told
    }
    /// Others were written meanwhile.
    pub fn also_told(&mut self, others: Told) {
        self.told.0 = self.told.0.max(others.0);
    }

    /// When work of the first scope `stages` ends, and what such work was to wait for: dependencies chain, whether or not anything
    /// ran between them (§ Execution and Memory Dependencies).
    pub fn done(&self, stages: Stages) -> u64 {
        Scope::of(stages, true).each().map(|c| self.done[c].max(self.ready[c])).max().unwrap_or(1)
    }

    /// Work of the second scope `stages` waits for `t`.
    pub fn wait(&mut self, t: u64, stages: Stages) {
        let scope = Scope::of(stages, false);
        scope.each().for_each(|c| self.ready[c] = self.ready[c].max(t));
        if scope.front {
            self.front = self.front.max(t);
        }
    }

    /// An execution dependency.
    pub fn barrier(&mut self, src: Stages, dst: Stages) {
        self.wait(self.done(src), dst);
    }

    /// What follows, as long as it is not known when that runs.
    pub fn ahead(&self) -> Ahead {
        Ahead::new(&self.done, &self.ready, &self.last)
    }

    /// When a dispatch would begin, were there room for it.
    pub fn dispatch_begins(&self, gpu: &Gpu) -> u64 {
        self.begins(gpu, Front::Compute, Class::Compute, 0)
    }
    /// When a render pass would begin to bin; and, with so many ticks of binning, to draw.
    pub fn pass_begins(&self, gpu: &Gpu, binning: u64) -> [u64; 2] {
        let begin = self.begins(gpu, Front::Binning, Class::Binning, 0);
        [begin, self.begins(gpu, Front::Main, Class::Main, begin + binning)]
    }
    fn begins(&self, gpu: &Gpu, front: Front, class: Class, from: u64) -> u64 {
        gpu.free(front, self.may_begin(front, class, from))
    }
    fn may_begin(&self, front: Front, class: Class, from: u64) -> u64 {
        from.max(self.ready[class as usize]).max(self.last[front as usize])
    }

    /// A submission begins: what comes before it, and what it waits for as a whole, keeps no stream waiting, for when the host heard of that
    /// must not show.
    pub fn submission(&mut self) {
        self.reached = self.ready.iter().fold(self.reached.max(self.latest()), |a, b| a.max(*b));
    }

    pub fn dispatch(&mut self, gpu: &mut impl Runs, job: &Job, m: &Model) -> Ran {
        self.run(gpu, Front::Compute, Class::Compute, 0, job, m)
    }
    /// `phase`: whose queue it is a job of.
    pub fn transfer(&mut self, gpu: &mut impl Runs, t: Transfer, phase: Phase, job: &Job, m: &Model) -> Ran {
        let (front, class) = Line::transfers(t, phase);
        self.run(gpu, front, class, 0, job, m)
    }
    pub(crate) fn transfers(t: Transfer, phase: Phase) -> (Front, Class) {
        let class = match t {
            Transfer::Copy => Class::Copy,
            Transfer::Blit => Class::Blit,
            Transfer::Resolve => Class::Resolve,
            Transfer::Clear => Class::Clear,
            Transfer::Structure => Class::Structure,
        };
        let front = match phase {
            Phase::Binning => Front::Binning,
            Phase::Compute => Front::Compute,
            Phase::Main => Front::Main,
        };
        (front, class)
    }
    /// A render pass: its binning and main phases.
    pub fn pass(&mut self, gpu: &mut impl Runs, [binning, main]: [&Job; 2], m: &Model) -> [Ran; 2] {
        let binned = self.run(gpu, Front::Binning, Class::Binning, 0, binning, m);
        let (front, reached) = (self.front, self.reached);
        let drawn = self.run(gpu, Front::Main, Class::Main, binned.end, main, m);
        // The front end has handed both out at once.
        (self.front, self.reached) = (front, reached);
        [binned, drawn]
    }
    fn run(
        &mut self,
        gpu: &mut impl Runs,
        front: Front,
        class: Class,
        from: u64,
        job: &Job,
        m: &Model,
    ) -> Ran {
        let mut ran = gpu.run(front, self.may_begin(front, class, from), job, m);
        ran.at = ran.begin;
        if job.cycles > 0 {
            // Its stream comes to a job when the one before it has ended; then what it depends on may be under way still. What other
            // Vulkan queues have in the way is theirs.
            let at = self.reached.max(self.last[front as usize]);
            let cycles = |ticks: u64| (ticks as u128 * m.clock_mhz as u128 / 1000) as u64;
            ran.waited = cycles(from.max(self.ready[class as usize]).saturating_sub(at));
            // Of what no front end had come to when it began, nobody waited.
            let at = at.min(ran.begin);
            ran.at = at;
            let may = at.max(self.ready[class as usize]);
            ran.waits[Wait::Dependencies] = may - at;
            ran.waits[Wait::Binning] = from.saturating_sub(may);
            // What has been placed long since keeps its queue too.
            let known = ran.own + ran.waits.sum();
            ran.waits[Wait::Queue] += (ran.end - at).saturating_sub(known);
            ran.stream = cycles(ran.end - ran.begin).max(ran.active + ran.blocked) + ran.waited;
            self.reached = self.reached.max(ran.begin);
        }
        self.last[front as usize] = ran.end;
        self.done[class as usize] = self.done[class as usize].max(ran.end);
        self.front = self.front.max(ran.begin);
        ran
    }

    /// The end of everything so far.
    pub fn latest(&self) -> u64 {
        self.done.iter().fold(self.front, |a, b| a.max(*b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Stages = Stages::ALL_COMMANDS;

    /// One core busy for so many cycles; a cycle is a nanosecond.
    fn job(cycles: u64) -> Job {
        let uses = counters::cost::Uses { cores: cycles, ..Default::default() };
        Job { cycles, core: cycles, exec: cycles, uses, ..Job::default() }
    }
    fn model() -> Model {
        Model { clock_mhz: 1000, ..Model::default() }
    }

    struct Lab(Line, Gpu, Model);
    impl Lab {
        fn new() -> Lab {
            Lab(Line::default(), Gpu::default(), model())
        }
        fn pass(&mut self, binning: u64, main: u64) -> [[u64; 2]; 2] {
            self.0.pass(&mut self.1, [&job(binning), &job(main)], &self.2).map(|r| [r.begin, r.end])
        }
        fn dispatch(&mut self, cycles: u64) -> [u64; 2] {
            let r = self.0.dispatch(&mut self.1, &job(cycles), &self.2);
            [r.begin, r.end]
        }
        fn transfer(&mut self, t: Transfer, phase: Phase, cycles: u64) -> [u64; 2] {
            let r = self.0.transfer(&mut self.1, t, phase, &job(cycles), &self.2);
            [r.begin, r.end]
        }
    }

    /// Passes of 10 cycles of binning and 100 of drawing, a dispatch of 30; a timer around pass 1.
    fn timer(serial: bool) -> [u64; 2] {
        let mut l = Lab::new();
        let mut t = [0; 2];
        for pass in 0..3 {
            if pass == 1 {
                t[0] = l.0.stamp(Stages::TOP_OF_PIPE);
            }
            l.pass(10, 100);
            if serial {
                l.0.barrier(ALL, ALL);
            }
            if pass == 1 {
                t[1] = l.0.stamp(Stages::BOTTOM_OF_PIPE);
            }
        }
        l.dispatch(30);
        t
    }

    #[test]
    fn a_timer_around_one_of_three_passes() {
        // Binning 0: 1–11, 1: 11–21; drawing 0: 11–111, 1: 111–211. The front end had begun pass 0 at 1.
        assert_eq!(timer(false), [1, 211]);
        // Pass 0 ends at 111; pass 1 alone takes 110.
        assert_eq!(timer(true), [111, 221]);
    }

    /// The same passes, whose drawing wants five of ten cores, after a dispatch that has eight of them for a thousand cycles.
    #[test]
    fn a_timer_takes_in_what_the_overlap_costs() {
        let uses = |cores| counters::cost::Uses { cores, ..Default::default() };
        let cores = |n: u64, cycles: u64| Job { core: n * cycles, uses: uses(n * cycles), ..job(cycles) };
        let mut l = Lab::new();
        let r = l.0.dispatch(&mut l.1, &cores(8, 1000), &l.2);
        assert_eq!([r.begin, r.end], [1, 1001]);
        let mut pass = || l.0.pass(&mut l.1, [&job(10), &cores(5, 100)], &l.2).map(|r| [r.begin, r.end]);
        // Binning has one of the two cores that are left; drawing both, two fifths of its pace: 250 cycles.
        assert_eq!(pass(), [[1, 11], [11, 261]]);
        // Nothing is left beside that, so binning waits. The front end had begun with pass 0 at 1: 520, where the pass alone takes
        // 110, and 210 with pass 0's drawing: 150 more for each drawing, and ten that overlap no more.
        assert_eq!(pass(), [[261, 271], [271, 521]]);
        assert_eq!([l.0.front, l.0.stamp(Stages::COLOR_ATTACHMENT_OUTPUT)], [261, 521]);
    }

    #[test]
    fn only_what_a_barrier_names_waits() {
        let mut l = Lab::new();
        l.pass(10, 100);
        // Colour to fragment: the next pass bins at once, and draws when it may.
        l.0.barrier(Stages::COLOR_ATTACHMENT_OUTPUT, Stages::FRAGMENT_SHADER);
        assert_eq!(l.pass(10, 5), [[11, 21], [111, 116]]);
        // A dispatch depends on nothing.
        assert_eq!(l.dispatch(7), [1, 8]);
        // Vertices that a dispatch writes: binning waits, and so does a dispatch after the pass's colours.
        l.0.barrier(Stages::COMPUTE_SHADER, Stages::VERTEX_SHADER);
        assert_eq!(l.pass(1, 1)[0][0], 21);
        l.0.barrier(Stages::COLOR_ATTACHMENT_OUTPUT, Stages::COMPUTE_SHADER);
        assert_eq!(l.dispatch(1), [117, 118]);
        l.0.barrier(Stages::COMPUTE_SHADER, Stages::VERTEX_SHADER);
        assert_eq!(l.pass(1, 1)[0][0], 118);
        // Copies share the compute queue.
        assert_eq!(l.transfer(Transfer::Copy, Phase::Compute, 10), [118, 128]);
        assert_eq!(l.0.done(Stages::COPY), 128);
        assert_eq!(l.0.done(Stages::COMPUTE_SHADER), 118);
        assert_eq!(l.0.latest(), 128);
    }

    /// A copy on the compute queue, and a blit and a clear on the main queue: what each stage takes in, and what waits.
    #[test]
    fn transfers_by_their_stages() {
        let mut l = Lab::new();
        assert_eq!(l.transfer(Transfer::Copy, Phase::Compute, 50), [1, 51]);
        assert_eq!(l.transfer(Transfer::Blit, Phase::Main, 10), [1, 11]);
        assert_eq!(l.transfer(Transfer::Clear, Phase::Main, 20), [11, 31]);
        let done = [Stages::COPY, Stages::BLIT, Stages::CLEAR, Stages::RESOLVE, Stages::ALL_TRANSFER]
            .map(|s| l.0.done(s));
        assert_eq!(done, [51, 11, 31, 1, 51]);
        // They are no graphics, though the main queue is theirs.
        assert_eq!(l.0.done(Stages::ALL_GRAPHICS), 1);
        // A pass waits for them in that queue alone.
        assert_eq!(l.pass(5, 9), [[1, 6], [31, 40]]);
        // One that reads what was cleared waits for that, and not for the copy; all transfers are waited for by their common stage.
        l.0.barrier(Stages::CLEAR, Stages::FRAGMENT_SHADER);
        assert_eq!(l.dispatch(4), [51, 55]);
        assert_eq!(l.pass(5, 9), [[6, 11], [40, 49]]);
        l.0.barrier(Stages::ALL_TRANSFER, Stages::FRAGMENT_SHADER);
        assert_eq!(l.pass(5, 9), [[11, 16], [51, 60]]);
        // And wait: a resolve for the fragments that it reads, by either stage.
        l.0.barrier(Stages::COLOR_ATTACHMENT_OUTPUT, Stages::ALL_TRANSFER);
        assert_eq!(l.transfer(Transfer::Copy, Phase::Compute, 1), [60, 61]);
        assert_eq!(l.transfer(Transfer::Resolve, Phase::Main, 1), [60, 61]);
    }

    #[test]
    fn streams_wait_for_other_streams() {
        let mut l = Lab::new();
        let of = |r: Ran| [r.stream, r.waited];
        // Drawing waits for binning; the stream had it from the begin.
        let [binned, drawn] = l.0.pass(&mut l.1, [&job(10), &job(100)], &l.2);
        assert_eq!([of(binned), of(drawn)], [[10, 0], [110, 10]]);
        // After its own kind, a job is in no stream before its turn; after a barrier, a dispatch waits for what is drawn.
        let [binned, drawn] = l.0.pass(&mut l.1, [&job(10), &job(100)], &l.2);
        assert_eq!([of(binned), of(drawn)], [[10, 0], [100, 0]]);
        l.0.barrier(ALL, ALL);
        let r = l.0.dispatch(&mut l.1, &job(7), &l.2);
        // The front end had come to the second pass at 11; it is drawn at 211.
        assert_eq!((of(r), r.begin), ([207, 200], 211));
        // Nothing to bin, nothing that has a stream.
        assert_eq!(of(l.0.pass(&mut l.1, [&job(0), &job(1)], &l.2)[0]), [0, 0]);
    }

    /// What a job's time, from when its stream came to it to its end, is the sum of.
    #[test]
    fn waits_add_up() {
        let mut l = Lab::new();
        let of = |r: Ran| {
            assert_eq!(r.own + r.waits.sum(), r.end - r.at, "{r:?}");
            (r.own, r.waits.0)
        };
        // Dependencies, binning, queue, blocked, beside.
        let [binned, drawn] = l.0.pass(&mut l.1, [&job(10), &job(100)], &l.2);
        assert_eq!([of(binned), of(drawn)], [(10, [0; 5]), (100, [0, 10, 0, 0, 0])]);
        // A barrier after which the second pass bins at 111 and is drawn at 121: its stream had come to it when the first began.
        l.0.barrier(ALL, ALL);
        let [binned, drawn] = l.0.pass(&mut l.1, [&job(10), &job(100)], &l.2);
        assert_eq!([of(binned), of(drawn)], [(10, [100, 0, 0, 0, 0]), (100, [0, 10, 0, 0, 0])]);
        // Another Vulkan queue's pass waits until the first has been binned, at 11, and then for the main queue of the front end: until 111.
        let mut other = Line::default();
        let [_, drawn] = other.pass(&mut l.1, [&job(0), &job(7)], &l.2);
        assert_eq!((of(drawn), drawn.end), ((7, [0, 10, 100, 0, 0]), 118));
    }

    /// Five tenths of the cores are left beside what was told before: a dispatch that wants all takes twice as long.
    #[test]
    fn beside_others_is_a_wait() {
        let uses = |cores| counters::cost::Uses { cores, ..Default::default() };
        let cores = |n: u64, cycles: u64| Job { core: n * cycles, uses: uses(n * cycles), ..job(cycles) };
        let mut l = Lab::new();
        l.0.pass(&mut l.1, [&job(0), &cores(5, 1000)], &l.2);
        let r = Line::default().dispatch(&mut l.1, &cores(10, 100), &l.2);
        assert_eq!((r.begin, r.end, r.own, r.waits.0), (1, 201, 100, [0, 0, 0, 0, 100]));
        // All of them: it waits for room.
        let mut l = Lab::new();
        l.0.pass(&mut l.1, [&job(0), &cores(10, 1000)], &l.2);
        let r = Line::default().dispatch(&mut l.1, &cores(10, 100), &l.2);
        assert_eq!((r.begin, r.end, r.own, r.waits.0), (1001, 1101, 100, [0, 0, 0, 1000, 0]));
    }

    #[test]
    fn dependencies_chain_through_stages_in_which_nothing_runs() {
        // Compute to transfer, transfer to graphics: no transfer between.
        let mut l = Lab::new();
        l.dispatch(50);
        l.0.barrier(Stages::COMPUTE_SHADER, Stages::COPY);
        l.0.barrier(Stages::COPY, Stages::VERTEX_SHADER);
        assert_eq!(l.pass(1, 1), [[51, 52], [52, 53]]);
    }

    #[test]
    fn the_first_scope_takes_earlier_stages_in_and_the_second_later_ones() {
        let mut l = Lab::new();
        l.pass(50, 0);
        assert_eq!(l.0.done(Stages::VERTEX_SHADER), 51);
        assert_eq!(l.0.done(Stages::FRAGMENT_SHADER), 51);
        l.0.wait(80, Stages::VERTEX_SHADER);
        assert_eq!(l.0.pass_begins(&l.1, 0), [80, 80]);
        assert_eq!(l.0.dispatch_begins(&l.1), 1);
        l.0.wait(90, Stages::BOTTOM_OF_PIPE);
        assert_eq!(l.0.dispatch_begins(&l.1), 1);
        l.0.wait(90, Stages::TOP_OF_PIPE);
        assert_eq!(l.0.dispatch_begins(&l.1), 90);
    }
}
