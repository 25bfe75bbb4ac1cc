//! From what workers count to the catalogue's events, and from those to ticks.

use crate::l2;
use crate::time::Ran;
use counters::model::LINE;
use counters::{Counts, Event, Job, Load, Model, Phase, Unit, UnitCounts, stalls};
use shader::bytecode::Program;
use wave::Usage;
use wave::cache::{Sizes, Traced};
use wave::tally::{self, Access, AccessKind, RayUnit, Tex};

/// One of this many chunks of a large dispatch or draw goes through the modelled caches; what was not is taken to be
/// like it.
pub const TRACED: u64 = 512;
/// The same of a render pass's tiles.
pub const TRACED_TILES: u64 = 128;
/// The same of a launch of rays, whose chunks are less alike: rays scatter.
pub const TRACED_RAYS: u64 = 16;
/// Workloads of so few chunks go through them whole.
const SMALL: u64 = 4;
/// Bytes of a page, and of what an entry of the table's level before is for.
pub const PAGE: u64 = 4 << 10;
pub const SECTION: u64 = 2 << 20;

/// The caches that chunk `c` goes through, if it is one of every `n`th that do, and two at least, for one does not tell what it shares with
/// others: of each `n` one anywhere, for what repeats must not repeat with it, but never the very first, which is rarely like the others.
pub fn traced(m: &Model, c: u64, chunks: u64, n: u64) -> Option<Sizes> {
    let n = n.min(chunks / 2).max(1);
    let anywhere = (c / n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (chunks <= SMALL || c % n == (n / 2 + anywhere) % n).then(|| caches(m))
}

/// The caches of a core, and the L2s.
pub fn caches(m: &Model) -> Sizes {
    let modelled = Sizes::of_kib(m.core.l1_kib as u32, m.core.texture_l1_kib as u32, m.memory.l2_kib as u32);
    Sizes { others: l2::others_sets(), ..modelled }
}

/// Events of the ray tracing unit.
const RAYS: [(Unit, RayUnit); RayUnit::COUNT] = [
    (Unit::RaysBegun, RayUnit::Begun),
    (Unit::RayBoxes, RayUnit::Boxes),
    (Unit::RayBoxNodes1, RayUnit::BoxNodes1),
    (Unit::RayBoxNodes5, RayUnit::BoxNodes5),
    (Unit::RayBoxNodes9, RayUnit::BoxNodes9),
    (Unit::RayBoxNodes13, RayUnit::BoxNodes13),
    (Unit::RayTriangleNodes1, RayUnit::TriangleNodes1),
    (Unit::RayTriangleNodes5, RayUnit::TriangleNodes5),
    (Unit::RayTriangleNodes9, RayUnit::TriangleNodes9),
    (Unit::RayTriangleNodes13, RayUnit::TriangleNodes13),
    (Unit::RayOpaqueHits, RayUnit::OpaqueHits),
    (Unit::RayOtherHits, RayUnit::OtherHits),
    (Unit::RayMisses, RayUnit::Misses),
    (Unit::RayFirstHits, RayUnit::FirstHits),
];

/// Events of running a shader.
pub fn units(u: &Usage) -> UnitCounts {
    let mut c = UnitCounts::default();
    c[Unit::Fma] = u.ran[tally::Ran::Fma];
    c[Unit::Cvt] = u.ran[tally::Ran::Cvt];
    c[Unit::Sfu] = u.ran[tally::Ran::Sfu];
    c[Unit::Narrow] = u.ran[tally::Ran::Narrow];
    c[Unit::Diverged] = u.ran[tally::Ran::Diverged];
    let lines = u.all_lines();
    let access = |a: Access| lines[a];
    c[Unit::LsReadFull] = access(Access::ReadFull);
    c[Unit::LsReadPartial] = access(Access::ReadPartial);
    c[Unit::LsWriteFull] = access(Access::WriteFull);
    c[Unit::LsWritePartial] = access(Access::WritePartial);
    c[Unit::LsAtomic] = access(Access::Atomic);
    c[Unit::AtomicTurns] = match u.atomic_lines {
        0 => 0,
        lines => access(Access::Atomic).div_ceil(lines),
    };
    c[Unit::Barriers] = u.ran[tally::Ran::Barriers];
    let part = |n: u64, of: u64, all: u64| match n.checked_mul(of) {
        _ if all == 0 => 0,
        Some(m) => m / all,
        None => (n as u128 * of as u128 / all as u128) as u64,
    };
    // What was traced of a kind speaks for all of it, and where none was, for none.
    let missed = |kind: AccessKind, lines: u64| {
        let t = &u.traced[kind as usize];
        (part(lines, t[Traced::Missed], t[Traced::Lookups]), part(lines, t[Traced::Far], t[Traced::Lookups]))
    };
    let reads = access(Access::ReadFull) + access(Access::ReadPartial);
    let writes = access(Access::WriteFull) + access(Access::WritePartial);
    let atomics = access(Access::Atomic);
    let (read_missed, read_far) = missed(AccessKind::Read, reads);
    let (write_missed, write_far) = missed(AccessKind::Write, writes);
    // Atomics are done in the L2.
    let (atomic_written, atomic_far) = missed(AccessKind::Atomic, atomics);
    // A line of 64 bytes is four beats; an atomic one.
    c[Unit::LsL2ReadBeats] = read_missed * 4;
    c[Unit::LsExtReadBeats] = read_far * 4;
    c[Unit::LsWriteBackBeats] = write_missed * 4;
    c[Unit::LsOtherWriteBeats] = atomics;
    c[Unit::L2ReadLookups] = read_missed;
    c[Unit::L2WriteLookups] = write_missed + atomics;
    c[Unit::ExtReads] = read_far + atomic_far;
    c[Unit::ExtWrites] = write_far + atomic_written;
    // A line that an atomic writes was read before.
    c[Unit::ExtWritesPartial] = part(write_far, access(Access::WritePartial), writes);
    let texels = |n: u64| part(u.texture[Tex::Messages], n, u.texels.messages);
    let (missed, far) = (texels(u.texels.lines[Traced::Missed]), texels(u.texels.lines[Traced::Far]));
    // One for each quad's footprint, which lies in up to four lines: a quad that lies in more takes more.
    let quads = 2 * u.texture[Tex::Messages] - u.texture[Tex::Single];
    c[Unit::TexLookups] = part(u.texture[Tex::Indexes], quads, u.texture[Tex::Messages])
        .max(texels(u.texels.lines[Traced::Lookups]).div_ceil(4));
    c[Unit::TexL1Misses] = missed;
    c[Unit::TexL2ReadBeats] = missed * 4;
    c[Unit::TexExtReadBeats] = far * 4;
    c[Unit::L2ReadLookups] += missed;
    c[Unit::ExtReads] += far;
    c[Unit::TexInstr] = u.ran[tally::Ran::Tex];
    c[Unit::TexMessages] = u.texture[Tex::Messages];
    c[Unit::TexSingleQuadMessages] = u.texture[Tex::Single];
    c[Unit::TexNearest] = u.texture[Tex::Nearest];
    c[Unit::TexBilinear] = u.texture[Tex::Bilinear];
    c[Unit::TexTrilinear] = u.texture[Tex::Trilinear];
    c[Unit::Tex3d] = u.texture[Tex::Volume];
    c[Unit::TexAniso] = u.texture[Tex::Aniso];
    c[Unit::TexFilterOps] = u.texture[Tex::Operations];
    c[Unit::TexIndexes] = u.texture[Tex::Indexes];
    c[Unit::TexFetches] = u.texture[Tex::Fetches];
    c[Unit::TexInBeats] = u.texture[Tex::In];
    // An answer is a beat; two of half the width share one.
    c[Unit::TexOutBeats] = u.texture[Tex::Messages] - u.texture[Tex::Halves] / 2;
    c[Unit::TexComplexBeats] = part(missed * 4, u.texture[Tex::Complex], u.texture[Tex::Messages]);
    for (unit, of) in RAYS {
        c[unit] = u.rays[of];
    }
    let kept = counters::model::current().memory.tlb_pages;
    let wave::reach::pages::Pages { lookups, pages, sections } = u.pages;
    c[Unit::PageLookups] = lookups;
    // Of more than are kept, one that is asked for again is gone by the part of them that is not.
    c[Unit::PageReads] = pages + part(lookups - pages, pages.saturating_sub(kept), pages);
    c[Unit::SectionReads] = sections;
    c
}

/// Events of launching `warps` warps of `program` with `threads` thread slots, `full` of them with all sixteen.
pub fn launch(c: &mut UnitCounts, program: &Program, warps: u64, threads: u64, full: u64) {
    c[Unit::Warps] += warps;
    c[Unit::Threads] += threads;
    c[Unit::FullWarps] += full;
    if program.profile.registers as u64 > counters::once::FULL_OCCUPANCY_REGISTERS {
        c[Unit::AllRegsWarps] += warps;
    }
}

/// Descriptors that a program names wherever it is: each core that runs it reads them once, of 32 bytes each, and the L2 once. So it
/// does the program: an op is taken to be an instruction of eight bytes.
#[inline]
pub fn descriptors(c: &mut UnitCounts, program: &Program, cores: u64) {
    let named = program.profile.descriptors as u64;
    c[Unit::OtherL2ReadBeats] += named * 2 * cores;
    c[Unit::L2ReadLookups] += (named * 32).div_ceil(64) * cores;
    c[Unit::ExtReads] += (named * 32).div_ceil(64);
    c[Unit::InstructionMisses] += (program.code.len() as u64 * 8).div_ceil(64) * cores;
    if named > 0 && program.profile.ways.total.tex > 0 {
        c[Unit::TexDescriptorLoads] += cores;
    }
}

/// Of what tiles wrote, so many bytes are not written, for the image is compressed.
pub fn compressed(c: &mut Counts, saved: u64) {
    let less = |n: &mut u64, by: u64| *n = n.saturating_sub(saved / by);
    less(&mut c[Event::TileWriteBeats], 16);
    less(&mut c[(Phase::Main, Unit::L2WriteLookups)], LINE);
    less(&mut c[(Phase::Main, Unit::ExtWrites)], LINE);
}

/// The L2 was cleaned: so many lines were dirty.
pub fn cleaned(c: &mut Counts, lines: u64, m: &Model) {
    c[Event::L2Flushes] += 1;
    c[Event::L2FlushCycles] += (lines * LINE).div_ceil(m.memory.external_bytes_per_cycle);
}

/// Bytes that a transfer read and wrote: of the parts of its regions that exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub read: u64,
    pub written: u64,
}

impl Moved {
    pub fn add(&mut self, read: u64, written: u64) {
        self.read += read;
        self.written += written;
    }
}

/// What a transfer of the main queue draws, as a render pass that covers what it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Regions of 64 × 64 pixels, by layer, and tiles.
    pub regions: u64,
    pub tiles: u64,
    /// By attachment and sample.
    pub pixels: u64,
    /// Pixels of each region; none where they are too many to be told apart.
    pub weights: Vec<u64>,
}

/// A clear, blit, resolve or copy of an image: taken as work of the main queue whose tiles read through the texture units, find nothing in
/// a cache, and write as those of a render pass do.
pub fn drawn(moved: Moved, covered: &Covered) -> Counts {
    let mut c = Counts::default();
    c[Event::MainJobs] = 1;
    c[Event::MainTasks] = covered.regions;
    c[Event::Tiles] = covered.tiles;
    c[Event::TilePixelsWritten] = covered.pixels;
    c[Event::TileWriteBeats] = moved.written.div_ceil(16);
    let mut u = UnitCounts::default();
    let (reads, writes) = (moved.read.div_ceil(64), moved.written.div_ceil(64));
    u[Unit::TexLookups] = reads.div_ceil(4);
    u[Unit::TexL1Misses] = reads;
    u[Unit::TexL2ReadBeats] = reads * 4;
    u[Unit::TexExtReadBeats] = reads * 4;
    u[Unit::L2ReadLookups] = reads;
    u[Unit::L2WriteLookups] = writes;
    u[Unit::ExtReads] = reads;
    u[Unit::ExtWrites] = writes;
    c.add_units(Phase::Main, &u);
    c
}

/// What copies to or from buffers, fills and updates move: taken as work of the compute queue that streams its bytes through
/// the cores' load/store units, every line full.
#[derive(Clone, Copy, Default, Debug)]
pub struct Streams {
    jobs: u64,
    tasks: u64,
    reads: u64,
    writes: u64,
    pages: u64,
    sections: u64,
}

impl Streams {
    /// One more.
    pub fn add(&mut self, Moved { read, written }: Moved) {
        self.jobs += 1;
        // A task moves 64 KiB.
        self.tasks += read.max(written).div_ceil(1 << 16).max(1);
        self.reads += read.div_ceil(64);
        self.writes += written.div_ceil(64);
        self.pages += read.div_ceil(PAGE) + written.div_ceil(PAGE);
        self.sections += read.div_ceil(SECTION) + written.div_ceil(SECTION);
    }
    pub fn is_none(&self) -> bool {
        self.jobs == 0
    }
    /// All of them; of the lines that they read and write, the L2 has so many.
    pub fn counts(&self, [found, dirty]: [u64; 2]) -> Counts {
        let mut c = Counts::default();
        c[Event::ComputeJobs] = self.jobs;
        c[Event::ComputeTasks] = self.tasks;
        let (reads, writes) = (self.reads, self.writes);
        let mut u = UnitCounts::default();
        u[Unit::LsReadFull] = reads;
        u[Unit::LsWriteFull] = writes;
        u[Unit::LsL2ReadBeats] = reads * 4;
        u[Unit::LsExtReadBeats] = reads.saturating_sub(found) * 4;
        u[Unit::LsWriteBackBeats] = writes * 4;
        u[Unit::L2ReadLookups] = reads;
        u[Unit::L2WriteLookups] = writes;
        u[Unit::ExtReads] = reads.saturating_sub(found);
        u[Unit::ExtWrites] = writes.saturating_sub(dirty);
        u[Unit::PageLookups] = self.pages;
        u[Unit::PageReads] = self.pages;
        u[Unit::SectionReads] = self.sections;
        c.add_units(Phase::Compute, &u);
        c
    }
}

/// One of these transfers; of the lines that it reads and writes, the L2 has so many.
pub fn transfer(moved: Moved, l2: [u64; 2]) -> Counts {
    let mut s = Streams::default();
    s.add(moved);
    s.counts(l2)
}

/// Lane operations of a task of a data graph.
const GRAPH_TASK: u64 = 1 << 16;

/// A dispatch of a data graph: a transfer of its bytes, with the arithmetic of its operators beside it.
pub fn graph(cost: &graph::Cost) -> Counts {
    let mut c = transfer(Moved { read: cost.read, written: cost.written }, [0; 2]);
    let lanes = cost.lanes.iter().sum::<u64>();
    c[Event::ComputeTasks] = c[Event::ComputeTasks].max(lanes.div_ceil(GRAPH_TASK));
    let warps = |n: u64| n.div_ceil(counters::model::WARP);
    let of = [Unit::Fma, Unit::Cvt, Unit::Sfu].into_iter().zip(cost.lanes);
    for (unit, n) in of.chain([(Unit::Narrow, cost.narrow)]) {
        c[(Phase::Compute, unit)] = warps(n);
    }
    c
}

/// Events of a job's time on one queue of the front end: cycles in which it went on, in which it was blocked, in which nothing
/// earlier ran beside it. Its cores' cycles are counted already.
pub fn ran(c: &mut Counts, phase: Phase, [active, blocked, alone]: [u64; 3]) {
    use Event::*;
    let (queued_cycles, active_cycles, blocked_cycles) = match phase {
        Phase::Binning => (BinningQueuedCycles, BinningActiveCycles, BinningBlockedCycles),
        Phase::Compute => (ComputeQueuedCycles, ComputeActiveCycles, ComputeBlockedCycles),
        Phase::Main => (MainQueuedCycles, MainActiveCycles, MainBlockedCycles),
    };
    c[queued_cycles] += active + blocked;
    c[active_cycles] += active;
    c[blocked_cycles] += blocked;
    c[GpuActiveCycles] += alone;
    c[AnyQueueActive] += alone;
}

/// Events of the front end: cycles in which the other of compute and binning kept a job out, in which its command stream had it, in
/// which that waited.
pub fn streamed(c: &mut Counts, phase: Phase, [drained, stream, waited]: [u64; 3]) {
    use Event::*;
    let (cycles, waits) = match phase {
        Phase::Binning => (BinningStreamCycles, BinningStreamWaits),
        Phase::Compute => (ComputeStreamCycles, ComputeStreamWaits),
        Phase::Main => (MainStreamCycles, MainStreamWaits),
    };
    c[cycles] += stream;
    c[waits] += waited;
    match phase {
        Phase::Binning => c[BinningDrainCycles] += drained,
        Phase::Compute => c[ComputeDrainCycles] += drained,
        Phase::Main => {}
    }
}

/// Events of cores' cycles.
pub fn cores(c: &mut Counts, phase: Phase, core: u64, exec: u64) {
    use Event::*;
    c[if phase == Phase::Main { CoreMainCycles } else { CoreNonMainCycles }] += core;
    c[CoreAnyCycles] += core;
    c[CoreExecCycles] += exec;
}

/// Cores' cycles of a task of the main phase, of its counts alone.
pub fn task(c: &mut Counts, m: &Model) {
    let draw = counters::cost::Draw { load: Load::of(c, Phase::Main), tasks: 1 };
    let main = counters::cost::main(c, &[draw], &[1], 1, m);
    cores(c, Phase::Main, main.job.core, main.job.exec);
}

/// All time events of a workload that is one job, of this phase's queue.
pub fn job(c: &mut Counts, phase: Phase, job: &Job, time: &Ran, m: &Model) {
    let stalls = stalls::of(c, phase, job, time.went(job), m);
    c.add_events(&stalls);
    let [core, exec] = time.cores(job);
    cores(c, phase, core, exec);
    ran(c, phase, time.cycles());
    streamed(c, phase, time.streamed());
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave::cache::Trace;

    /// A draw of which no tile was followed through caches: as the others of its pass, or texels, where nobody was, as if no cache had anything.
    #[test]
    fn what_was_not_followed_moves_memory_too() {
        let mut draw = Usage::default();
        draw.texture[Tex::Messages] = 10;
        draw.lines[Access::ReadFull] = 7;
        let mut others = Usage::default();
        others.traced[0] = Trace::new([8, 8, 4]);
        others.texels.messages = 4;
        others.texels.lines = Trace::new([8, 4, 2]);
        let far = |u: &Usage| {
            let u = units(u);
            [u[Unit::TexL2ReadBeats], u[Unit::TexExtReadBeats], u[Unit::LsExtReadBeats], u[Unit::ExtReads]]
        };
        let mut alone = draw.clone();
        alone.fare_as(&Usage::default());
        assert_eq!(far(&alone), [40, 40, 0, 10]);
        draw.fare_as(&others);
        assert_eq!(far(&draw), [40, 20, 12, 8]);
    }

    #[test]
    fn a_copy_of_a_mebibyte() {
        // 16 tasks of 64 KiB on ten cores; 16 384 lines in, 16 384 out. A core stores a line a cycle, and loads one:
        // 32 768 cycles, + 20 a task, over ten cores. External memory: 2 MiB at 56 bytes a cycle =
        // 37 450 cycles, which is more; + 1 000 for the job.
        let m = Model::load(Some("g720")).unwrap();
        let c = transfer(Moved { read: 1 << 20, written: 1 << 20 }, [0; 2]);
        assert_eq!((c[Event::ComputeJobs], c[Event::ComputeTasks]), (1, 16));
        assert_eq!(c[(Phase::Compute, Unit::LsReadFull)], 16_384);
        assert_eq!(counters::cost::compute(&c, &m).cycles, 38_450);
    }

    #[test]
    fn tiles_clear_and_blit() {
        let m = Model::load(Some("g720")).unwrap();
        let main = |c: &Counts, covered: &Covered| counters::cost::main(c, &[], &covered.weights, 0, &m).job;
        // Eleven regions of a byte a pixel: four pixels a cycle, 1024 cycles a region, and 100 for its task. One of ten cores has two
        // of them. 1000 for the job.
        let covered = Covered { regions: 11, tiles: 44, pixels: 11 * 4096, weights: vec![4096; 11] };
        let c = drawn(Moved { read: 0, written: 11 * 4096 }, &covered);
        assert_eq!((c[Event::MainJobs], c[Event::MainTasks], c[Event::ComputeJobs]), (1, 11, 0));
        assert_eq!((c[Event::TilePixelsWritten], c[Event::TileWriteBeats]), (45_056, 11 * 256));
        let job = main(&c, &covered);
        assert_eq!((job.cycles, job.core, job.exec), (2 * 1124 + 1000, 11 * 1124, 0));
        // A blit that reads a mebibyte and writes a quarter: 16 384 lines, four beats each, through the texture units, of a core's
        // bus one a cycle. External memory takes longer: 1 310 720 bytes, 56 a cycle, 23 405.7.
        let covered = Covered { regions: 16, tiles: 64, pixels: 65_536, weights: vec![4096; 16] };
        let c = drawn(Moved { read: 1 << 20, written: 1 << 18 }, &covered);
        assert_eq!(c[(Phase::Main, Unit::TexL2ReadBeats)], 65_536);
        let job = main(&c, &covered);
        // Of the ten cores six have two regions and four have one: all of them eight tenths of that time.
        assert_eq!((job.cycles, job.core, job.bytes), (23_406 + 1000, 8 * 23_406, 1_310_720));
    }

    /// Each number of the texture unit is summed over workers, and has its counter.
    #[test]
    fn all_of_the_texture_unit_is_told() {
        let one = Usage { texture: wave::tally::Texture::new([1; Tex::COUNT]), ..Usage::default() };
        let mut two = one.clone();
        two.add(&one);
        let c = units(&two);
        use Unit::*;
        for unit in [
            TexMessages,
            TexSingleQuadMessages,
            TexNearest,
            TexBilinear,
            TexTrilinear,
            Tex3d,
            TexAniso,
            TexFilterOps,
        ] {
            assert_eq!(c[unit], 2, "{unit:?}");
        }
    }
}
