//! One Vulkan queue's line of modelled time.

use ash::vk;
use vk::PipelineStageFlags2 as Stages;

/// Kinds of work that barriers tell apart. Transfers run on the compute queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Binning,
    Compute,
    Main,
    Transfer,
}
const CLASSES: usize = 4;

/// When something ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    pub begin: u64,
    pub end: u64,
}

/// Ticks of one queue's work; see the module's text.
#[derive(Clone, Debug)]
pub struct Line {
    /// The binning, compute and main queues are free from here on.
    free: [u64; 3],
    /// All work of each class so far ends here.
    done: [u64; CLASSES],
    /// Work of each class may not begin before.
    ready: [u64; CLASSES],
    /// The last workload, or wait of everything, began: how far the front end has come.
    front: u64,
    /// The last timestamps, by the classes of work that they tell of (a bit each; none: the front end).
    stamps: [u64; 1 << CLASSES],
}

impl Default for Line {
    fn default() -> Line {
        Line { free: [1; 3], done: [1; CLASSES], ready: [1; CLASSES], front: 1, stamps: [0; 1 << CLASSES] }
    }
}

/// A set of classes, and whether the front end itself belongs to it.
#[derive(Clone, Copy)]
struct Scope {
    classes: [bool; CLASSES],
    front: bool,
}

impl Scope {
    /// § Pipeline Stages. `first`: the first scope of a dependency, which takes logically earlier stages in; else the
    /// second, which takes later ones in.
    fn of(stages: Stages, first: bool) -> Scope {
        let any = |s: Stages| stages.intersects(s);
        let everything =
            any(Stages::ALL_COMMANDS | if first { Stages::BOTTOM_OF_PIPE } else { Stages::TOP_OF_PIPE });
        let graphics = everything || any(Stages::ALL_GRAPHICS);
        let early = any(Stages::DRAW_INDIRECT
            | Stages::VERTEX_INPUT
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
        classes[Class::Compute as usize] =
            everything || any(Stages::COMPUTE_SHADER) || (!first && any(Stages::DRAW_INDIRECT));
        classes[Class::Transfer as usize] = everything
            || any(Stages::ALL_TRANSFER | Stages::COPY | Stages::BLIT | Stages::RESOLVE | Stages::CLEAR);
        Scope { classes, front: everything }
    }
    fn each(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CLASSES).filter(|c| self.classes[*c])
    }
}

impl Line {
    /// Nothing that follows begins before `t`.
    pub fn floor(&mut self, t: u64) {
        self.ready.iter_mut().for_each(|r| *r = (*r).max(t));
        self.front = self.front.max(t);
    }

    /// A timestamp: when everything so far that `stages` take in has ended; for none, how far the front end has come.
    /// To write one takes a tick, so no two that tell of the same are the same.
    pub fn stamp(&mut self, stages: Stages) -> u64 {
        let scope = Scope::of(stages, true);
        let t = scope.each().map(|c| self.done[c]).fold(self.front, u64::max);
        let last = &mut self.stamps[scope.each().map(|c| 1 << c).sum::<usize>()];
        *last = t.max(*last + 1);
        *last
    }

    /// When work of the first scope `stages` ends.
    pub fn done(&self, stages: Stages) -> u64 {
        Scope::of(stages, true).each().map(|c| self.done[c]).max().unwrap_or(1)
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

    /// When a dispatch would begin.
    pub fn dispatch_begins(&self) -> u64 {
        self.free[1].max(self.ready[Class::Compute as usize])
    }
    /// When a render pass would begin to bin; and, with so many ticks of binning, to draw.
    pub fn pass_begins(&self, binning: u64) -> [u64; 2] {
        let begin = self.free[0].max(self.ready[Class::Binning as usize]);
        [begin, (begin + binning).max(self.free[2]).max(self.ready[Class::Main as usize])]
    }

    pub fn dispatch(&mut self, ticks: u64) -> Span {
        self.on_compute(Class::Compute, ticks)
    }
    pub fn transfer(&mut self, ticks: u64) -> Span {
        self.on_compute(Class::Transfer, ticks)
    }
    fn on_compute(&mut self, class: Class, ticks: u64) -> Span {
        let begin = self.free[1].max(self.ready[class as usize]);
        let end = begin + ticks;
        self.free[1] = end;
        self.done[class as usize] = self.done[class as usize].max(end);
        self.front = self.front.max(begin);
        Span { begin, end }
    }

    /// A render pass: its binning and main phases.
    pub fn pass(&mut self, binning: u64, main: u64) -> [Span; 2] {
        let [begin, draws] = self.pass_begins(binning);
        let bin = Span { begin, end: begin + binning };
        let draw = Span { begin: draws, end: draws + main };
        (self.free[0], self.free[2]) = (bin.end, draw.end);
        for (c, t) in [(Class::Binning, bin.end), (Class::Main, draw.end)] {
            self.done[c as usize] = self.done[c as usize].max(t);
        }
        self.front = self.front.max(begin);
        [bin, draw]
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

    /// Passes of 10 ticks of binning and 100 of drawing, a dispatch of 30; a timer around pass 1.
    fn timer(serial: bool) -> [u64; 2] {
        let mut l = Line::default();
        let mut t = [0; 2];
        for pass in 0..3 {
            if pass == 1 {
                t[0] = l.stamp(Stages::TOP_OF_PIPE);
            }
            l.pass(10, 100);
            if serial {
                l.barrier(ALL, ALL);
            }
            if pass == 1 {
                t[1] = l.stamp(Stages::BOTTOM_OF_PIPE);
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

    #[test]
    fn only_what_a_barrier_names_waits() {
        let mut l = Line::default();
        l.pass(10, 100);
        // Colour to fragment: the next pass bins at once, and draws when it may.
        l.barrier(Stages::COLOR_ATTACHMENT_OUTPUT, Stages::FRAGMENT_SHADER);
        assert_eq!(l.pass(10, 5), [Span { begin: 11, end: 21 }, Span { begin: 111, end: 116 }]);
        // A dispatch depends on nothing.
        assert_eq!(l.dispatch(7), Span { begin: 1, end: 8 });
        // Vertices that a dispatch writes: binning waits, and so does a dispatch after the pass's colours.
        l.barrier(Stages::COMPUTE_SHADER, Stages::VERTEX_SHADER);
        assert_eq!(l.pass(1, 1)[0].begin, 21);
        l.barrier(Stages::COLOR_ATTACHMENT_OUTPUT, Stages::COMPUTE_SHADER);
        assert_eq!(l.dispatch(1).begin, 117);
        l.barrier(Stages::COMPUTE_SHADER, Stages::VERTEX_SHADER);
        assert_eq!(l.pass(1, 1)[0].begin, 118);
        // Transfers share the compute queue.
        assert_eq!(l.transfer(10), Span { begin: 118, end: 128 });
        assert_eq!(l.done(Stages::COPY), 128);
        assert_eq!(l.done(Stages::COMPUTE_SHADER), 118);
        assert_eq!(l.latest(), 128);
    }

    #[test]
    fn the_first_scope_takes_earlier_stages_in_and_the_second_later_ones() {
        let mut l = Line::default();
        l.pass(50, 0);
        assert_eq!(l.done(Stages::VERTEX_SHADER), 51);
        assert_eq!(l.done(Stages::FRAGMENT_SHADER), 51);
        l.wait(80, Stages::VERTEX_SHADER);
        assert_eq!(l.pass_begins(0), [80, 80]);
        assert_eq!(l.dispatch_begins(), 1);
        l.wait(90, Stages::BOTTOM_OF_PIPE);
        assert_eq!(l.dispatch_begins(), 1);
        l.wait(90, Stages::TOP_OF_PIPE);
        assert_eq!(l.dispatch_begins(), 90);
    }
}
