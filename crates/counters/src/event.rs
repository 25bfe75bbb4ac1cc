//! What the engine counts: raw facts, exact, each counted in one place.
//!
//! A render pass or dispatch (a *workload*) has one [`Counts`], and so has each 64 × 64 task of a render pass. Sums of
//! counts are exact and do not depend on the order, so every interface reads the same numbers on any thread count.
//! Work that shader cores do in every phase is told apart by [`Phase`]: vertex work counts under `Binning`, compute
//! under `Compute`, fragment work under `Main`.

use crate::names;
use crate::names::{At, By, Named};

names! {
    /// Facts that belong to one phase anyway.
    pub Event {
        /// Vertices assembled into primitives (VkQueryPipelineStatisticFlagBits; so are the next seven).
        InputVertices,
        /// Primitives that primitive assembly made, restarts left out.
        InputPrimitives,
        /// Vertex shader invocations.
        VertexInvocations,
        /// Primitives that reached clipping.
        ClippingInvocations,
        /// Primitives that clipping passed on.
        ClippingPrimitives,
        /// Fragment shader invocations that cover a sample (helpers are not counted).
        FragmentInvocations,
        /// Compute shader invocations.
        ComputeInvocations,
        /// Patches that the tessellation control stage was run for.
        ControlPatches,
        /// Tessellation evaluation shader invocations.
        EvaluationInvocations,
        /// Geometry shader invocations.
        GeometryInvocations,
        /// Primitives that geometry shaders emitted.
        GeometryPrimitives,
        /// Task shader invocations.
        TaskInvocations,
        /// Mesh shader invocations.
        MeshInvocations,
        /// Primitives that mesh shaders made.
        MeshPrimitives,
        /// Primitives of vertex stream 0 that the last stage before rasterisation made.
        Generated0,
        /// Primitives of vertex stream 1 that the last stage before rasterisation made.
        Generated1,
        /// Primitives of vertex stream 2 that the last stage before rasterisation made.
        Generated2,
        /// Primitives of vertex stream 3 that the last stage before rasterisation made.
        Generated3,
        /// Primitives of vertex stream 0 made while transform feedback was active.
        Needed0,
        /// Primitives of vertex stream 1 made while transform feedback was active.
        Needed1,
        /// Primitives of vertex stream 2 made while transform feedback was active.
        Needed2,
        /// Primitives of vertex stream 3 made while transform feedback was active.
        Needed3,
        /// Primitives of vertex stream 0 that transform feedback captured.
        Captured0,
        /// Primitives of vertex stream 1 that transform feedback captured.
        Captured1,
        /// Primitives of vertex stream 2 that transform feedback captured.
        Captured2,
        /// Primitives of vertex stream 3 that transform feedback captured.
        Captured3,
        /// Samples that passed all tests (occlusion queries).
        SamplesPassed,

        /// Input triangles, before culling and clipping.
        Triangles,
        /// Input lines, before culling and clipping.
        Lines,
        /// Input points, before culling and clipping.
        Points,
        /// Visible triangles that face the front.
        PrimsFrontVisible,
        /// Visible triangles that face the back.
        PrimsBackVisible,
        /// Primitives that survive every test of the tiler; every input primitive is visible or culled by one test.
        PrimsVisible,
        /// Of these, primitives whose vertices the main phase shades.
        PrimsDeferred,
        /// Primitives culled because of their facing, or without area.
        PrimsFaceCulled,
        /// Primitives culled because they lie outside the view volume.
        PrimsFrustumCulled,
        /// Primitives culled because they lie outside scissor and render area.
        PrimsScissorCulled,
        /// Primitives culled because they cover no sample point.
        PrimsSampleCulled,
        /// Primitive references that the tiler wrote into the lists of tiles.
        BinEntries,
        /// Requests for position shading, of up to four vertices each.
        PositionTasks,
        /// Requests for the shading of the other outputs of visible primitives' vertices, of up to four vertices each.
        VaryingTasks,
        /// Index references whose position was shaded before.
        PositionCacheHits,
        /// References of visible primitives to vertices whose other outputs were there already.
        VaryingCacheHits,
        /// References of visible primitives to vertices whose other outputs had to be shaded.
        VaryingCacheMisses,

        /// Render passes that were binned.
        BinningJobs,
        /// Dispatches, and transfers to and from buffers.
        ComputeJobs,
        /// Render passes whose tiles were drawn, and clears, blits, resolves and copies of images.
        MainJobs,
        /// Chunks of primitives, shaded and binned as one.
        BinningTasks,
        /// Workgroups, and stretches of 64 KiB of transfers to and from buffers.
        ComputeTasks,
        /// Regions of 64 × 64 pixels drawn, by layer.
        MainTasks,

        /// Tiles drawn, by layer: of 32 × 32 pixels, or fewer where the tile buffer does not hold the colours of so many.
        Tiles,
        /// Tiles of 32 × 32 pixels that were not written because memory holds these pixels already.
        TilesKilled,
        /// Primitives that entered the rasteriser, by tile.
        PrimsRasterised,
        /// Quads of 2 × 2 pixels with at least one sample covered.
        QuadsRasterised,
        /// Of these, quads with a sample that is not covered.
        QuadsPartial,
        /// Quads of 2 × 2 fragment threads: as many as rasterised quads, times the samples when shading by sample, and fewer where a fragment has several pixels.
        CoarseQuads,
        /// Quads tested for depth or stencil before shading.
        QuadsEzsTested,
        /// Of these, quads that could update the depth or stencil attachment before shading.
        QuadsEzsUpdated,
        /// Quads that early tests killed whole.
        QuadsEzsKilled,
        /// Quads tested for depth or stencil after shading.
        QuadsLzsTested,
        /// Quads that late tests killed whole.
        QuadsLzsKilled,
        /// Quads that may hide earlier ones: opaque, and resolved before shading.
        QuadsOccluding,
        /// Quads that passed early tests and were not shaded because a later opaque one covers them.
        QuadsFpkKilled,
        /// Quads shaded.
        QuadsShaded,
        /// Quads blended or written into the tile buffer, by colour attachment and sample.
        BlendQuads,
        /// Warps of vertices that the main phase shades, as [`Unit::Warps`] of it has them.
        DeferredWarps,
        /// Vertices that it shades, region by region, as [`Unit::Threads`] of it has them.
        DeferredVertices,
        /// Of these, quads that a blend shader blends, for the attachment's format has no fixed-function blending.
        BlendShaderQuads,
        /// Pixels written from the tile buffer to memory, by attachment.
        TilePixelsWritten,

        /// Beats of 16 bytes the tiler reads (indices, vertex positions).
        TilerReadBeats,
        /// Beats of 16 bytes the fragment front end reads from the L2 (primitive lists, attachments loaded).
        FfeL2ReadBeats,
        /// Of these, beats that missed the L2.
        FfeExtReadBeats,
        /// Beats of 16 bytes that tiles are written with.
        TileWriteBeats,

        /// Times that the L2 was cleaned, before a command buffer's first workload.
        L2Flushes,
        /// Cycles that it takes to write the dirty lines to memory then. They are part of the time of the work that wrote the lines.
        L2FlushCycles,

        /// Cycles with binning work in its queue (time model; so are all that follow).
        BinningQueuedCycles,
        /// Cycles with binning work running.
        BinningActiveCycles,
        /// Cycles with binning work ready but not running.
        BinningBlockedCycles,
        /// Cycles with compute work in its queue.
        ComputeQueuedCycles,
        /// Cycles with compute work running.
        ComputeActiveCycles,
        /// Cycles with compute work ready but not running.
        ComputeBlockedCycles,
        /// Cycles with main-phase work in its queue.
        MainQueuedCycles,
        /// Cycles with main-phase work running.
        MainActiveCycles,
        /// Cycles with main-phase work ready but not running.
        MainBlockedCycles,
        /// Cycles with any work on the GPU.
        GpuActiveCycles,
        /// Cycles with work in any of the three queues.
        AnyQueueActive,
        /// Cycles that shader cores work on the main phase, summed over cores.
        CoreMainCycles,
        /// Cycles that shader cores work on binning or compute, summed over cores.
        CoreNonMainCycles,
        /// Cycles that shader cores work on anything, summed over cores.
        CoreAnyCycles,
        /// Cycles that shader cores run at least one warp, summed over cores.
        CoreExecCycles,

        /// Of these, cycles in which all warps wait for messages: what arithmetic does not take (`stalls`; so are those that follow).
        StarvedCycles,
        /// Cycles in which texture units have a message, summed over cores.
        TextureActiveCycles,
        /// Of these, cycles without a beat of an answer.
        TextureStarvedCycles,
        /// Of the active ones, cycles in which a quad waits for its descriptor.
        TextureDescriptorCycles,
        /// Of the active ones, cycles in which fetching holds up what comes before it.
        TextureFetchCycles,
        /// Of the active ones, cycles in which the filter has nothing to do for want of texels.
        TextureFilterCycles,
        /// Cycles of the main phase in which quads wait before a core's warps, summed over cores.
        PrePipeCycles,
        /// Cycles in which the tiler has a position to be shaded, and its queue of requests is full.
        PositionStallCycles,
        /// Cycles in which the tiler has a position to be shaded, and no room for the positions that are ready.
        PositionFullCycles,
        /// Cycles in which the tiler has other outputs to be shaded, and its queue of requests is full.
        VaryingStallCycles,
        /// Cycles in which the tiler's assembly waits for positions.
        AssemblyStallCycles,
        /// Cycles in which reads wait for external memory to take them, summed over slices of the L2.
        ExtReadStallCycles,
        /// Cycles in which writes wait for external memory to take them, summed over slices of the L2.
        ExtWriteStallCycles,
        /// Cycles in which reads wait for a slice of the L2, summed over slices.
        L2ReadStallCycles,
        /// Cycles in which writes wait for a slice of the L2, summed over slices.
        L2WriteStallCycles,
        /// Reads of lines from external memory that take less than 128 cycles.
        ExtReadLatency0,
        /// Reads of lines that take 128 to 191 cycles.
        ExtReadLatency128,
        /// Reads of lines that take 192 to 255 cycles.
        ExtReadLatency192,
        /// Reads of lines that take 256 to 319 cycles.
        ExtReadLatency256,
        /// Reads of lines that take 320 to 383 cycles.
        ExtReadLatency320,
        /// Reads of lines that begin while less than a quarter of what may be outstanding is.
        ExtReadsQuarter1,
        /// Reads of lines that begin while one to two quarters are outstanding.
        ExtReadsQuarter2,
        /// Reads of lines that begin while two to three quarters are outstanding.
        ExtReadsQuarter3,
        /// Writes of lines that begin while less than a quarter of what may be outstanding is.
        ExtWritesQuarter1,
        /// Writes of lines that begin while one to two quarters are outstanding.
        ExtWritesQuarter2,
        /// Writes of lines that begin while two to three quarters are outstanding.
        ExtWritesQuarter3,

        /// Of `BinningBlockedCycles`, those in which compute work ran (time model; so are all that follow).
        BinningDrainCycles,
        /// Of `ComputeBlockedCycles`, those in which binning work ran.
        ComputeDrainCycles,
        /// Cycles in which the command stream of vertex and tiler work has a job.
        BinningStreamCycles,
        /// Of these, cycles in which the job waits for what it depends on.
        BinningStreamWaits,
        /// Cycles in which the command stream of compute work has a job.
        ComputeStreamCycles,
        /// Of these, cycles in which the job waits for what it depends on.
        ComputeStreamWaits,
        /// Cycles in which the command stream of fragment work has a job.
        MainStreamCycles,
        /// Of these, cycles in which the job waits for what it depends on.
        MainStreamWaits,
    }
}

names! {
    /// Work of the shader cores, counted apart for each [`Phase`].
    pub Unit {
        /// Warps of 16 threads started.
        Warps,
        /// Thread slots of the quads or warps that hold a thread, helpers included.
        Threads,
        /// Warps all of whose 16 thread slots are allotted.
        FullWarps,
        /// Warps of programs with more than 32 work registers.
        AllRegsWarps,

        /// Warp-instructions of the FMA pipe.
        Fma,
        /// Warp-instructions of the CVT pipe.
        Cvt,
        /// Warp-instructions of the SFU pipe.
        Sfu,
        /// Of these three, warp-instructions on 16 bits or fewer.
        Narrow,
        /// Of the first three, warp-instructions with some of the warp's threads masked off by control flow.
        Diverged,

        /// Load issues: a 64-byte line read by one warp, of which it needs all 64 bytes.
        LsReadFull,
        /// Load issues: a 64-byte line read by one warp, of which it needs less.
        LsReadPartial,
        /// Store issues that write a 64-byte line whole.
        LsWriteFull,
        /// Store issues that write less of a line.
        LsWritePartial,
        /// Atomic issues, one a thread.
        LsAtomic,
        /// Atomics per line, if the atomics of a workload were spread evenly over the lines that they use.
        AtomicTurns,
        /// Warps that come to a barrier of their workgroup.
        Barriers,
        /// Warp-instructions that fetch a vertex attribute.
        AttributeInstr,
        /// Warp-instructions that interpolate an input.
        VaryingInstr,
        /// Interpolation slots of 32 bits: one component of a quad.
        VaryingSlots32,
        /// Interpolation slots of 16 bits: two components of a quad.
        VaryingSlots16,

        /// Warp-instructions of the texture unit.
        TexInstr,
        /// Messages of the texture unit: quads with a texture instruction, two to a message where a warp has two.
        TexMessages,
        /// Of these, messages of one quad.
        TexSingleQuadMessages,
        /// Texture samples taken without filtering, and texel fetches, by thread.
        TexNearest,
        /// Texture samples filtered in one level of a 1D or 2D image, by thread.
        TexBilinear,
        /// Texture samples filtered between two levels, by thread.
        TexTrilinear,
        /// Texture samples filtered in a 3D image, by thread.
        Tex3d,
        /// Texture samples filtered along an axis of anisotropy, by thread.
        TexAniso,
        /// Bilinear operations that these samples cost: one a thread, doubled by each of trilinear and 3D filtering and
        /// by texels wider than 32 bits (as they are when decoded), times the taps that anisotropic filtering takes.
        TexFilterOps,
        /// Look-ups in the L1 texture cache: of a quad's footprint in a level, a slice and two taps, in up to four lines of 64 bytes.
        TexLookups,
        /// Lines that they missed.
        TexL1Misses,
        /// Footprints that indices are calculated for: one a message, as many as levels, slices and taps beyond one ask for.
        TexIndexes,
        /// Footprints that texels are fetched for, twice those of texels wider than 32 bits and four times of wider than 64.
        TexFetches,
        /// Beats of messages to the texture unit: of two operands of 32 bits a thread each.
        TexInBeats,
        /// Beats of its answers: one of up to four components of 32 bits for each of a message's threads, or two of 16 bits.
        TexOutBeats,
        /// Cores' first waits for the descriptors of a draw's or dispatch's textures.
        TexDescriptorLoads,

        /// Rays that began.
        RaysBegun,
        /// Boxes that the ray tracing unit tests: those of the box nodes that its warps of sixteen rays visit.
        RayBoxes,
        /// Box nodes that 1 to 4 rays of a warp visit.
        RayBoxNodes1,
        /// Box nodes that 5 to 8 rays of a warp visit.
        RayBoxNodes5,
        /// Box nodes that 9 to 12 rays of a warp visit.
        RayBoxNodes9,
        /// Box nodes that 13 to 16 rays of a warp visit.
        RayBoxNodes13,
        /// Triangle nodes that 1 to 4 rays of a warp visit.
        RayTriangleNodes1,
        /// Triangle nodes that 5 to 8 rays of a warp visit.
        RayTriangleNodes5,
        /// Triangle nodes that 9 to 12 rays of a warp visit.
        RayTriangleNodes9,
        /// Triangle nodes that 13 to 16 rays of a warp visit.
        RayTriangleNodes13,
        /// Rays' hits of opaque triangles.
        RayOpaqueHits,
        /// Rays' hits of triangles that are not opaque.
        RayOtherHits,
        /// Rays' visits of triangle nodes without a hit.
        RayMisses,
        /// Rays that ended with their first hit.
        RayFirstHits,

        /// Lines of 64 bytes of programs that cores read into their instruction caches.
        InstructionMisses,

        /// Beats of 16 bytes that the load/store unit reads from the L2.
        LsL2ReadBeats,
        /// Of these, beats that missed the L2.
        LsExtReadBeats,
        /// Beats of 16 bytes that the load/store unit writes back.
        LsWriteBackBeats,
        /// Beats of 16 bytes that it writes for other reasons: atomics, done at the L2.
        LsOtherWriteBeats,
        /// Beats of 16 bytes that the texture unit reads from the L2.
        TexL2ReadBeats,
        /// Of these, beats that missed the L2.
        TexExtReadBeats,
        /// Of the beats from the L2, those of block-compressed texels.
        TexComplexBeats,
        /// Beats of 16 bytes that other units of the core read from the L2 (descriptors, uniforms).
        OtherL2ReadBeats,

        /// Reads of 64-byte lines looked up in the L2.
        L2ReadLookups,
        /// Writes of 64-byte lines looked up in the L2.
        L2WriteLookups,
        /// Lines of 64 bytes read from external memory.
        ExtReads,
        /// Lines of 64 bytes written to external memory.
        ExtWrites,
        /// Of these, lines of which stores have not written all.
        ExtWritesPartial,

        /// Pages of 4 KiB that cores ask the memory management unit for: what their own translations lack.
        PageLookups,
        /// Of these, pages that it reads the table's last level for.
        PageReads,
        /// Of these, those whose section of 2 MiB it reads the level before for.
        SectionReads,
    }
}

names! {
    /// The three queues, and whose work it is.
    pub Phase {
        /// Vertex shading and tiling.
        Binning,
        /// Dispatches.
        Compute,
        /// Fragments and tiles.
        Main,
    }
}

impl Event {
    /// Whether other work of the device can change it: what follows from when a job ran and what ran beside it, and from what others
    /// left in the L2. All cycles do, for warps wait longer for what the L2 has not.
    pub fn is_shared(self) -> bool {
        self == Event::L2FlushCycles || self as usize >= Event::BinningQueuedCycles as usize
    }

    /// Whether it tells of external memory, or of what the L2 exchanges with it.
    pub fn is_external(self) -> bool {
        use Event::*;
        matches!(self, FfeExtReadBeats | L2Flushes | L2FlushCycles | ExtReadStallCycles | ExtWriteStallCycles)
            || (ExtReadLatency0 as usize..=ExtWritesQuarter3 as usize).contains(&(self as usize))
    }

    /// Whether a 64 × 64 task has a value of its own for it.
    pub fn by_task(self) -> bool {
        use Event::*;
        let i = self as usize;
        matches!(self, FragmentInvocations | SamplesPassed | MainTasks | FfeL2ReadBeats | FfeExtReadBeats)
            || matches!(self, TileWriteBeats | CoreMainCycles | CoreAnyCycles | CoreExecCycles)
            || (Tiles as usize..=TilePixelsWritten as usize).contains(&i)
    }
}

impl Unit {
    /// Whether it is the ray tracing unit's.
    pub fn is_of_rays(self) -> bool {
        (Unit::RaysBegun as usize..=Unit::RayFirstHits as usize).contains(&(self as usize))
    }

    /// Whether it tells of external memory: what the L2 has, other work may have left there.
    pub fn is_external(self) -> bool {
        use Unit::*;
        matches!(self, LsExtReadBeats | TexExtReadBeats | ExtReads | ExtWrites | ExtWritesPartial)
    }
}

/// A value for every event, and for every unit's event in every phase.
pub type Counts = By<Anything, { Event::COUNT + Phase::COUNT * Unit::COUNT }>;

/// What belongs to one phase anyway, alone.
pub type EventCounts = By<Event, { Event::COUNT }>;

/// The unit events of one phase: what running a shader counts.
pub type UnitCounts = By<Unit, { Unit::COUNT }>;

/// What [`Counts`] go by: an [`Event`], or a [`Phase`] and a [`Unit`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anything {}

impl At<Anything> for Event {
    #[inline(always)]
    fn at(self) -> usize {
        self as usize
    }
}
impl At<Anything> for (Phase, Unit) {
    #[inline(always)]
    fn at(self) -> usize {
        unit_base(self.0) + self.1 as usize
    }
}
impl Named for Anything {
    fn name(place: usize) -> String {
        match place.checked_sub(Event::COUNT) {
            None => Event::ALL[place].name().into(),
            Some(i) => {
                let (phase, unit) = (Phase::ALL[i / Unit::COUNT], Unit::ALL[i % Unit::COUNT]);
                format!("{}.{}", phase.name(), unit.name())
            }
        }
    }
}

const fn unit_base(phase: Phase) -> usize {
    Event::COUNT + phase as usize * Unit::COUNT
}

impl Counts {
    pub fn add_events(&mut self, events: &EventCounts) {
        names::add(&mut self.0[..Event::COUNT], &events.0);
    }
    pub fn add_units(&mut self, phase: Phase, units: &UnitCounts) {
        names::add(&mut self.0[unit_base(phase)..][..Unit::COUNT], &units.0);
    }
    pub fn units(&self, phase: Phase) -> UnitCounts {
        UnitCounts::new(std::array::from_fn(|i| self.0[unit_base(phase) + i]))
    }
    /// Over all phases.
    pub fn total(&self, unit: Unit) -> u64 {
        Phase::ALL.iter().map(|&p| self[(p, unit)]).sum()
    }
}

impl Event {
    /// Primitives of a vertex stream.
    pub fn generated(stream: usize) -> Event {
        [Event::Generated0, Event::Generated1, Event::Generated2, Event::Generated3][stream & 3]
    }
    pub fn needed(stream: usize) -> Event {
        [Event::Needed0, Event::Needed1, Event::Needed2, Event::Needed3][stream & 3]
    }
    pub fn captured(stream: usize) -> Event {
        [Event::Captured0, Event::Captured1, Event::Captured2, Event::Captured3][stream & 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_own_place() {
        let mut c = Counts::default();
        let mut n = 0;
        for &e in Event::ALL {
            n += 1;
            c[e] = n;
        }
        for &p in Phase::ALL {
            for &u in Unit::ALL {
                n += 1;
                c[(p, u)] = n;
            }
        }
        assert_eq!(n as usize, Counts::LEN);
        assert_eq!(c.0, std::array::from_fn(|i| i as u64 + 1));
    }

    #[test]
    fn sums_and_differences() {
        let mut a = Counts::default();
        a[Event::Triangles] = 5;
        a[(Phase::Main, Unit::Fma)] = 7;
        let began = a;
        let mut u = UnitCounts::default();
        u[Unit::Fma] = 3;
        a.add_units(Phase::Main, &u);
        a.add_units(Phase::Binning, &u);
        a[Event::Triangles] += 1;
        let d = a.since(&began);
        assert_eq!((d[Event::Triangles], d[(Phase::Main, Unit::Fma)], d.total(Unit::Fma)), (1, 3, 6));
        assert_eq!(a.total(Unit::Fma), 13);
        assert_eq!(a.units(Phase::Main)[Unit::Fma], 10);
        let mut sum = began;
        sum += &d;
        assert!(sum == a && !sum.is_zero() && Counts::default().is_zero());
    }
}
