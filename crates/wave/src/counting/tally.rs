//! What a worker counts while programs run: a row for each counter of the program ([`shader::cost::Profile`]).

use crate::counting::cache::{Cache, Elsewhere, Sizes, TexelTrace, Trace, Traced};
use crate::counting::reach::Reach;
use crate::counting::reach::pages::Pages;
use counters::{By, names};
use shader::bytecode::Program;
use shader::cost::{COUNTED, Cost};

/// One counter's row. Memory and texture work is counted at the row of the counter that was passed last.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct Row {
    /// Warps that passed, and of those, warps with fewer lanes than they began with.
    pub warps: u64,
    pub diverged: u64,
    /// Lanes that passed (instrumented programs only).
    pub threads: u64,
    /// Cache lines of 64 bytes that warps' accesses touched, one cycle each.
    pub lines: Lines,
    /// Warps' accesses of which the lines were not told; and of the same sort, those of which they were, with the lines.
    pub unknown: ByKind,
    pub sampled: ByKind,
    pub sampled_lines: ByKind,
    pub texture: Texture,
}

names! {
    /// What the texture unit does.
    pub Tex {
        /// Messages of up to two quads.
        Messages,
        /// Of these, messages of one quad.
        Single,
        /// Samples of the nearest texel, one a thread.
        Nearest,
        /// Bilinear samples, one a thread.
        Bilinear,
        /// Trilinear samples, one a thread.
        Trilinear,
        /// Samples of three dimensions, one a thread.
        Volume,
        /// Anisotropic samples, one a thread.
        Aniso,
        /// Bilinear operations that samples cost.
        Operations,
        /// Footprints that indices are calculated for, a message each but for levels, slices and taps beyond one.
        Indexes,
        /// The same, of wide texels as many times as they are 32 bits wide.
        Fetches,
        /// Beats of messages.
        In,
        /// Messages of block-compressed images.
        Complex,
        /// Messages whose answers have 16 bits a component.
        Halves,
        /// Cache lines of texels, by warp (instrumented programs, and where tracing is on).
        Lines,
    }
}

/// What the texture unit has done.
pub type Texture = By<Tex, { Tex::COUNT }>;

names! {
    /// What the ray tracing unit does. A warp of it is the rays of sixteen lanes that begin together, or go on together after candidates.
    pub RayUnit {
        /// Rays that begin.
        Begun,
        /// Boxes of the box nodes that warps visit.
        Boxes,
        /// Box nodes that 1 to 4 rays of a warp visit.
        BoxNodes1,
        /// Box nodes that 5 to 8 rays of a warp visit.
        BoxNodes5,
        /// Box nodes that 9 to 12 rays of a warp visit.
        BoxNodes9,
        /// Box nodes that 13 to 16 rays of a warp visit.
        BoxNodes13,
        /// Triangle nodes that 1 to 4 rays of a warp visit.
        TriangleNodes1,
        /// Triangle nodes that 5 to 8 rays of a warp visit.
        TriangleNodes5,
        /// Triangle nodes that 9 to 12 rays of a warp visit.
        TriangleNodes9,
        /// Triangle nodes that 13 to 16 rays of a warp visit.
        TriangleNodes13,
        /// Rays' hits of opaque triangles.
        OpaqueHits,
        /// Rays' hits of triangles that a shader must judge.
        OtherHits,
        /// Rays' visits of triangle nodes without a hit.
        Misses,
        /// Rays that end with their first hit.
        FirstHits,
    }
}

/// What the ray tracing unit has done.
pub type RayCounts = By<RayUnit, { RayUnit::COUNT }>;

names! {
    /// Kinds of accesses by the load/store unit: lines that a warp's loads and stores touch; atomics by thread. A warp's access is
    /// full when all its lanes take part, at more than one place, and they ask for as many bytes as the lines have.
    pub Access {
        /// Lines of full loads.
        ReadFull,
        /// Lines of other loads.
        ReadPartial,
        /// Lines of full stores.
        WriteFull,
        /// Lines of other stores.
        WritePartial,
        /// Threads' atomics.
        Atomic,
    }
}

/// Lines by [`Access`].
pub type Lines = By<Access, { Access::COUNT }>;

names! {
    /// What an access does.
    pub AccessKind {
        /// It loads.
        Read,
        /// It stores.
        Write,
        /// It does both at once.
        Atomic,
    }
}

/// A number for each kind of access.
pub type ByKind = By<AccessKind, { AccessKind::COUNT }>;

names! {
    /// Warp-instructions that ran.
    pub Ran {
        /// Of the FMA pipe.
        Fma,
        /// Of the CVT pipe.
        Cvt,
        /// Of the SFU pipe.
        Sfu,
        /// Of the load/store unit.
        Ls,
        /// Of these, loads whose lines are counted where they run.
        Loads,
        /// Of the texture unit.
        Tex,
        /// Of the arithmetic ones, those of 16 bits or fewer.
        Narrow,
        /// Of the arithmetic ones, those that diverged warps executed.
        Diverged,
        /// Barriers of workgroups.
        Barriers,
    }
}

/// What warps ran.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Executed {
    pub ran: By<Ran, { Ran::COUNT }>,
    /// Loads of one line.
    pub single: u64,
}

impl Executed {
    fn add(&mut self, o: &Executed) {
        self.ran += &o.ran;
        self.single += o.single;
    }
    fn cost(&mut self, times: u64, diverged: u64, c: &Cost) {
        self.ran[Ran::Fma] += times * c.fma as u64;
        self.ran[Ran::Cvt] += times * c.cvt as u64;
        self.ran[Ran::Sfu] += times * c.sfu as u64;
        self.ran[Ran::Ls] += times * c.ls as u64;
        self.ran[Ran::Loads] += times * c.loads as u64;
        self.single += times * c.single as u64;
        self.ran[Ran::Tex] += times * c.tex as u64;
        self.ran[Ran::Narrow] += times * c.narrow as u64;
        self.ran[Ran::Barriers] += times * c.barriers as u64;
        self.ran[Ran::Diverged] += diverged * (c.fma + c.cvt + c.sfu) as u64;
    }
}

/// Sums over a program's counters.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Usage {
    pub ran: By<Ran, { Ran::COUNT }>,
    /// Of a vertex program in [`shader::cost::Halves`]: what its warps would have run of each half, had they run it alone.
    pub halves: [Executed; 2],
    /// Lines of loads that touch one whatever happens, and those of all other accesses.
    pub single: u64,
    pub lines: Lines,
    pub unknown: ByKind,
    pub sampled: ByKind,
    pub sampled_lines: ByKind,
    pub texture: Texture,
    pub rays: RayCounts,
    /// Of the stretches that were traced, what lines did in the caches, by [`AccessKind`].
    pub traced: [Trace; AccessKind::COUNT],
    pub texels: TexelTrace,
    /// Lines that atomics are done on, an estimate; 0 where it is not known.
    pub atomic_lines: u64,
    /// Of those stretches, the lines that the L2 lacked.
    pub reach: Reach,
    /// The same in L2s of other sizes ([`Sizes::others`]), if stretches went through any.
    pub others: Vec<Elsewhere>,
    /// What they ask the memory management unit for, once [`Usage::share_l2`] has told.
    pub pages: Pages,
}

/// Numbers of one basic block in an instrumented program: warps, threads, diverged warps, warp-instructions of FMA, CVT and
/// SFU, lines of load/store, bilinear operations, interpolation slots of a quad, lines of memory and texels.
pub type BlockRow = [u64; 10];

impl Usage {
    pub fn add(&mut self, o: &Usage) {
        self.ran += &o.ran;
        self.halves.iter_mut().zip(&o.halves).for_each(|(a, b)| a.add(b));
        self.single += o.single;
        self.lines += &o.lines;
        self.unknown += &o.unknown;
        self.sampled += &o.sampled;
        self.sampled_lines += &o.sampled_lines;
        self.texture += &o.texture;
        self.rays += &o.rays;
        self.traced.iter_mut().zip(&o.traced).for_each(|(a, b)| *a += b);
        self.texels.add(&o.texels);
        self.atomic_lines += o.atomic_lines;
        self.reach.add(&o.reach);
        if self.others.len() < o.others.len() {
            self.others.resize_with(o.others.len(), Elsewhere::default);
        }
        self.others.iter_mut().zip(&o.others).for_each(|(a, b)| a.add(b));
        self.pages += o.pages;
    }
    /// Lines by [`Access`] in all: those of accesses that were not told are taken to be as many each as those of the same
    /// kind that were.
    pub fn all_lines(&self) -> Lines {
        let mut all = self.lines;
        all[Access::ReadPartial] += self.single;
        for (partial, kind) in
            [(Access::ReadPartial, AccessKind::Read), (Access::WritePartial, AccessKind::Write)]
        {
            let more = self.unknown[kind] as u128 * self.sampled_lines[kind] as u128;
            all[partial] += match self.sampled[kind] {
                0 => self.unknown[kind],
                n => (more / n as u128) as u64,
            };
        }
        all
    }
    /// Box nodes and triangle nodes that warps of rays visited.
    pub fn ray_nodes(&self) -> [u64; 2] {
        use RayUnit::*;
        [
            [BoxNodes1, BoxNodes5, BoxNodes9, BoxNodes13],
            [TriangleNodes1, TriangleNodes5, TriangleNodes9, TriangleNodes13],
        ]
        .map(|bins| bins.into_iter().map(|bin| self.rays[bin]).sum())
    }
    /// Of kinds of accesses that were not followed at all: as those of `others` were. Texels, where nobody's were: each message to a
    /// line that no cache has.
    pub fn fare_as(&mut self, others: &Usage) {
        for (mine, other) in self.traced.iter_mut().zip(&others.traced) {
            if mine[Traced::Lookups] == 0 {
                *mine = *other;
            }
        }
        if self.texels.messages == 0 {
            let cold = TexelTrace { messages: 1, lines: Trace::new([1; Traced::COUNT]) };
            self.texels = if others.texels.messages > 0 { others.texels } else { cold };
        }
    }
    /// Of a vertex program in halves: as if they had run for so many vertices each, of `all` for which they have. What instructions did in
    /// memory and textures goes by how many of them run. Each number is rounded up.
    pub fn run_in_halves(&mut self, times: [u64; 2], all: u64) {
        let all = all.max(1);
        let part = |n: u64, by: u128, of: u128| (n as u128 * by).div_ceil(of.max(1)) as u64;
        let [first, second] = &self.halves;
        let both =
            |a: u64, b: u64| part(a, times[0] as u128, all as u128) + part(b, times[1] as u128, all as u128);
        let whole = self.ran;
        for &r in Ran::ALL {
            self.ran[r] = both(first.ran[r], second.ran[r]);
        }
        let share = |r: Ran| {
            let (a, b) = (first.ran[r] as u128, second.ran[r] as u128);
            (a * times[0] as u128 + b * times[1] as u128, whole[r] as u128 * all as u128)
        };
        let (by, of) = share(Ran::Loads);
        if of > 0 {
            for a in [Access::ReadFull, Access::ReadPartial] {
                self.lines[a] = part(self.lines[a], by, of);
            }
            self.unknown[AccessKind::Read] = part(self.unknown[AccessKind::Read], by, of);
        }
        self.single = both(first.single, second.single);
        let (by, of) = share(Ran::Tex);
        if of > 0 {
            for &t in Tex::ALL {
                self.texture[t] = part(self.texture[t], by, of);
            }
        }
        // What is written is the first half's.
        for a in [Access::WriteFull, Access::WritePartial, Access::Atomic] {
            self.lines[a] = part(self.lines[a], times[0] as u128, all as u128);
        }
        for k in [AccessKind::Write, AccessKind::Atomic] {
            self.unknown[k] = part(self.unknown[k], times[0] as u128, all as u128);
        }
    }
    /// Of a vertex program that has no halves: all of it is the first.
    pub fn run_at_once(&mut self) {
        self.halves = [Executed { ran: self.ran, single: self.single }, Executed::default()];
    }
}

/// What a wave's state holds for counting.
pub struct Counting {
    /// Lanes with which the wave began.
    pub began: [u16; 32],
    /// The worker's rows, and the one of the counter passed last.
    rows: *mut Row,
    row: *mut Row,
    row_count: usize,
    /// Once the wave has read the clock: what its warps had passed then, and how often it has.
    pub clock: Option<([u64; 3], u64)>,
    /// What a warp that passes a row's counter costs, as many as there are counters.
    costs: *const Cost,
    /// The cache to follow accesses through, or null.
    cache: *mut Cache,
    /// The lines of every access and texel are to be counted, not only where that is cheap.
    pub exact: bool,
    /// The program is instrumented: lines of all texels are wanted.
    pub marked: bool,
}

impl Counting {
    /// Counts at `rows`, all lines exactly.
    ///
    /// # Safety
    /// There is a row. They live, and are nobody else's, as long as this counts.
    pub unsafe fn at(rows: &mut [Row]) -> Counting {
        Counting {
            began: [0; 32],
            rows: rows.as_mut_ptr(),
            row: rows.as_mut_ptr(),
            row_count: rows.len(),
            clock: None,
            costs: std::ptr::null(),
            cache: std::ptr::null_mut(),
            exact: true,
            marked: false,
        }
    }
    /// Follows accesses through `cache`.
    ///
    /// # Safety
    /// It lives, and is nobody else's, as long as this counts.
    pub unsafe fn through(self, cache: &mut Cache) -> Counting {
        Counting { cache, ..self }
    }
    /// The row of the counter passed last.
    #[inline(always)]
    pub fn row(&mut self) -> &mut Row {
        // SAFETY: one of the rows (`at`, `pass`).
        unsafe { &mut *self.row }
    }
    /// Where the pointer to the rows lies.
    pub const ROWS: usize = std::mem::offset_of!(Counting, rows);
    /// The worker's rows.
    pub fn rows(&self) -> *mut Row {
        self.rows
    }
    /// Counts nothing that is told until [`Counting::back`]: what follows goes to `aside`, which lives as long.
    ///
    /// # Safety
    /// `aside` lives until then.
    pub unsafe fn leave(&mut self, aside: &mut Row) -> *mut Cache {
        self.row = aside;
        std::mem::replace(&mut self.cache, std::ptr::null_mut())
    }
    /// Counts again.
    pub fn back(&mut self, cache: *mut Cache) {
        (self.row, self.cache) = (self.rows, cache);
    }
    /// The counter of row `i` is passed.
    ///
    /// # Safety
    /// There is such a row.
    #[inline(always)]
    pub unsafe fn pass(&mut self, i: usize) -> &mut Row {
        // SAFETY: the caller's.
        self.row = unsafe { self.rows.add(i) };
        self.row()
    }
    /// Instructions of arithmetic, of load and store, and of the texture unit that the wave's warps have passed, and those of
    /// waves before it.
    pub fn passed(&self) -> [u64; 3] {
        let mut sum = [0; 3];
        if self.costs.is_null() {
            return sum;
        }
        for i in 0..self.row_count {
            // SAFETY: as many rows and costs as there are counters (`Tally::counting`).
            let (warps, c) = unsafe { ((*self.rows.add(i)).warps, &*self.costs.add(i)) };
            let each = [c.fma + c.cvt + c.sfu, c.ls + c.single, c.tex];
            sum.iter_mut().zip(each).for_each(|(sum, n)| *sum += warps * n as u64);
        }
        sum
    }
    /// Warps that the wave began with.
    pub fn live(&self) -> u64 {
        self.began.iter().filter(|exec| **exec != 0).count() as u64
    }
    /// Whether accesses are followed through a cache.
    #[inline(always)]
    pub fn follows(&self) -> bool {
        !self.cache.is_null()
    }
    /// The cache that accesses are followed through.
    #[inline(always)]
    pub fn cache(&mut self) -> Option<&mut Cache> {
        // SAFETY: null, or the one of `through`.
        unsafe { self.cache.as_mut() }
    }
    /// Whether the next message of the texture unit is to be followed through the caches.
    #[inline(always)]
    pub fn follows_texels(&self) -> bool {
        // SAFETY: null, or the one of `through`.
        unsafe { self.cache.as_ref() }.is_some_and(|c| c.left > 0)
    }
    /// Whether lines of the next operation's texels are to be counted.
    #[inline(always)]
    pub fn counts_texels(&self) -> bool {
        COUNTED && self.exact && (self.marked || !self.follows() || self.follows_texels())
    }
    /// A wave begins with the lanes of `exec`.
    #[inline(always)]
    pub fn begin(&mut self, exec: [u16; 32]) {
        self.began = exec;
        self.row = self.rows;
        self.clock = None;
    }
}

/// Rows of the program that a worker runs, until somebody takes them.
#[derive(Default)]
pub struct Tally {
    rows: Vec<Row>,
    /// The caches as they were modelled since the tracing began.
    pub cache: Box<Cache>,
    /// Of all rows together: no basic block has numbers of the ray tracing unit.
    pub rays: Box<RayCounts>,
    pub tracing: bool,
    /// A wave has begun since somebody took the rows.
    used: bool,
}

impl Tally {
    /// For a wave of `p`: rows as many as the program has counters, and one at least.
    pub fn counting(&mut self, p: &Program) -> Counting {
        let counters = p.profile.counters.len();
        self.used = true;
        if self.rows.len() < counters.max(1) {
            self.rows.resize(counters.max(1), Row::default());
        }
        Counting {
            row_count: counters,
            costs: p.profile.counters.as_ptr(),
            cache: if self.tracing { &mut *self.cache } else { std::ptr::null_mut() },
            exact: self.tracing || p.profile.mark_count > 0,
            marked: p.profile.mark_count > 0,
            // SAFETY: one row at least; rows and cache are this worker's, which runs one wave at a time.
            ..unsafe { Counting::at(&mut self.rows) }
        }
    }

    /// No wave has begun since the rows were taken: there is nothing to take, but of an instrumented program the names
    /// of its blocks.
    pub fn is_idle(&self) -> bool {
        !self.used
    }

    /// Nobody wants what has been counted since the last call, of program `p` alone.
    pub fn forget(&mut self, p: &Program) {
        self.used = false;
        let n = p.profile.counters.len().max(1).min(self.rows.len());
        self.rows[..n].fill(Row::default());
        *self.rays = RayCounts::default();
    }

    /// What has been counted since the last call, of program `p` alone. `blocks`: for instrumented programs, numbers
    /// by basic block are added to it (it grows as needed).
    pub fn take(&mut self, p: &Program, blocks: Option<&mut Vec<BlockRow>>) -> Usage {
        let mut sum = self.take_rows(p, blocks);
        self.take_cache(&mut sum);
        sum
    }

    /// The same without what was followed through caches: that goes on, with other programs.
    pub fn take_rows(&mut self, p: &Program, blocks: Option<&mut Vec<BlockRow>>) -> Usage {
        self.used = false;
        let mut sum = Usage::default();
        let profile = &p.profile;
        if let Some(blocks) = blocks {
            if blocks.len() < profile.mark_count as usize {
                blocks.resize(profile.mark_count as usize, BlockRow::default());
            }
            for m in &profile.marks {
                let (Some(r), Some(b)) = (self.rows.get(m.counter as usize), blocks.get_mut(m.mark as usize))
                else {
                    continue;
                };
                if m.entry {
                    b[0] += r.warps;
                    b[1] += r.threads;
                    b[2] += r.diverged;
                }
                b[3] += r.warps * m.cost.fma as u64;
                b[4] += r.warps * m.cost.cvt as u64;
                b[5] += r.warps * m.cost.sfu as u64;
                let single = r.warps * m.cost.single as u64;
                b[6] += single;
                b[8] += r.warps * m.cost.varying as u64;
                b[9] += single;
                if m.work {
                    let lines = r.lines.sum();
                    b[6] += lines;
                    b[7] += r.texture[Tex::Operations];
                    b[9] += lines + r.texture[Tex::Lines];
                }
            }
        }
        let n = profile.counters.len().max(1).min(self.rows.len());
        let mut whole = Executed::default();
        for (i, r) in self.rows[..n].iter_mut().enumerate() {
            if let Some(c) = profile.counters.get(i) {
                whole.cost(r.warps, r.diverged, c);
            }
            if let Some(halves) = &profile.halves {
                for (sum, half) in sum.halves.iter_mut().zip([&halves.position, &halves.others]) {
                    half.costs.get(i).into_iter().for_each(|c| sum.cost(r.warps, r.diverged, c));
                }
            }
            sum.lines += &r.lines;
            sum.unknown += &r.unknown;
            sum.sampled += &r.sampled;
            sum.sampled_lines += &r.sampled_lines;
            sum.texture += &r.texture;
            *r = Row::default();
        }
        (sum.ran, sum.single) = (whole.ran, whole.single);
        sum.rays = std::mem::take(&mut *self.rays);
        sum
    }

    /// What was followed through caches since the last call, of all programs; it replaces what `sum` has of it.
    pub fn take_cache(&mut self, sum: &mut Usage) {
        sum.traced = std::mem::take(&mut self.cache.lines);
        sum.texels = std::mem::take(&mut self.cache.texels);
        sum.reach = self.cache.take_reach();
        sum.others = self.cache.take_others(&sum.traced, &sum.texels);
    }

    /// Begins or ends following accesses through modelled caches of these sizes, which begin empty.
    pub fn trace(&mut self, through: Option<Sizes>) {
        self.tracing = through.is_some();
        if let Some(sizes) = through {
            self.cache.begin(sizes);
        }
    }
}
