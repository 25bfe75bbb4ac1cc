//! What must hold of every workload, of frames, of devices and of the total, a row each.
//!
//! Sides are formulas of counters and of the model's figures, as the catalogue has them (`counters::formula`), and of what
//! [`NAMES`] has besides.

use On::{All, Pass, Timed, Workload};

/// Of which places a row speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    All,
    /// Workloads and devices: what has a time.
    Timed,
    Workload,
    /// Workloads that are render passes.
    Pass,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    AtMost,
    Equal,
}

/// What a place has besides counters, in this order. `elapsed` is in cycles of the model's clock, with a nanosecond more for
/// each of the workloads, for times are rounded.
pub const NAMES: [&str; 5] = ["elapsed", "times", "begin_ns", "end_ns", "elapsed_ns"];

pub struct Row {
    pub name: &'static str,
    pub on: On,
    pub left: &'static str,
    pub is: Is,
    pub right: &'static str,
}

const fn most(on: On, name: &'static str, left: &'static str, right: &'static str) -> Row {
    Row { name, on, left, is: Is::AtMost, right }
}
const fn same(name: &'static str, left: &'static str, right: &'static str) -> Row {
    Row { name, on: All, left, is: Is::Equal, right }
}

pub const ROWS: &[Row] = &[
    // Time.
    most(Workload, "a workload ends after it begins", "begin_ns", "end_ns"),
    most(
        Workload,
        "workloads lie between the first begin and the last end",
        "elapsed_ns",
        "times * (end_ns - begin_ns)",
    ),
    most(Timed, "GPU active within the time", "MaliGPUActiveCy", "elapsed"),
    most(Timed, "binning active within the time", "MaliBinningQueueActiveCy", "elapsed"),
    most(Timed, "compute active within the time", "MaliCompQueueActiveCy", "elapsed"),
    most(Timed, "main phase active within the time", "MaliMainQueueActiveCy", "elapsed"),
    // The model adds up parts of a 2^20th.
    most(Timed, "cores within the time", "MaliAnyActiveCy", "$cores * elapsed * 1.00001"),
    most(
        Timed,
        "external memory within the time",
        "(TuffExtReadBytes + TuffExtWriteBytes) / $external_bytes",
        "elapsed * 1.00001",
    ),
    most(
        Timed,
        "L2 within the time",
        "MaliL2CacheLookup * 64 / ($l2_slices * $slice_bytes)",
        "elapsed * 1.00001",
    ),
    // Whatever parts it comes in.
    Row {
        name: "a render pass is drawn as one job",
        on: Pass,
        left: "MaliMainQueueJob",
        is: Is::Equal,
        right: "times",
    },
    most(Pass, "a render pass is binned as one job", "MaliBinningQueueJob", "times"),
    // Queues.
    same(
        "binning queued = active + stalled",
        "MaliBinningQueuedCy",
        "MaliBinningQueueActiveCy + MaliBinningQueueAssignStallCy",
    ),
    same(
        "compute queued = active + stalled",
        "MaliCompQueuedCy",
        "MaliCompQueueActiveCy + MaliCompQueueAssignStallCy",
    ),
    same(
        "main phase queued = active + stalled",
        "MaliMainQueuedCy",
        "MaliMainQueueActiveCy + MaliMainQueueAssignStallCy",
    ),
    most(All, "compute is drained while stalled", "MaliCompQueueDrainStallCy", "MaliCompQueueAssignStallCy"),
    most(
        All,
        "binning is drained while stalled",
        "MaliTilerQueueDrainStallCy",
        "MaliBinningQueueAssignStallCy",
    ),
    // Command streams. Their cycles are cut from ticks, queues' rounded so that a job has all of its own.
    most(All, "vertex stream waits while active", "MaliCS0WaitStallCy", "MaliCSFCS0ActiveCy"),
    most(All, "fragment stream waits while active", "MaliCS1WaitStallCy", "MaliCSFCS1ActiveCy"),
    most(All, "compute stream waits while active", "MaliCS2WaitStallCy", "MaliCSFCS2ActiveCy"),
    most(All, "vertex stream active while queued", "MaliBinningQueuedCy", "MaliCSFCS0ActiveCy"),
    most(All, "fragment stream active while queued", "MaliMainQueuedCy", "MaliCSFCS1ActiveCy"),
    most(All, "compute stream active while queued", "MaliCompQueuedCy", "MaliCSFCS2ActiveCy"),
    most(
        All,
        "the front end's units within the queues' cycles",
        "max(MaliCSFMCUActiveCy, MaliCSFCEUActiveCy, MaliCSFLSUActiveCy)",
        "MaliBinningQueueActiveCy + MaliCompQueueActiveCy + MaliMainQueueActiveCy",
    ),
    most(
        All,
        "tiler stalls within the tiler's cycles",
        "MaliTilerPrimAsPosShadStallCy + MaliTilerPosShadFIFOFullCy",
        "MaliTilerActiveCy",
    ),
    most(
        All,
        "full queues of shading requests are waits of assembly",
        "MaliTilerPosShadStallCy + MaliTilerVarShadStallCy",
        "MaliTilerPrimAsPosShadStallCy",
    ),
    same("tiler active = binning active", "MaliTilerActiveCy", "MaliBinningQueueActiveCy"),
    same("GPU active = any queue active", "MaliGPUActiveCy", "MaliGPUAnyQueueActiveCy"),
    most(
        All,
        "any queue active within the queues' sum",
        "MaliGPUAnyQueueActiveCy",
        "MaliBinningQueueActiveCy + MaliCompQueueActiveCy + MaliMainQueueActiveCy",
    ),
    // Cores.
    same("any = main + other phases", "MaliAnyActiveCy", "MaliMainActiveCy + MaliCompOrBinningActiveCy"),
    most(All, "execution within active", "MaliCoreActiveCy", "MaliAnyActiveCy"),
    most(All, "starvation within execution", "MaliEngStarveCy", "MaliCoreActiveCy"),
    most(All, "texture units active within execution", "MaliTexClkActiveCy", "MaliCoreActiveCy"),
    most(
        All,
        "stalls of texture units within their cycles",
        "max(MaliTexClkStarvedCy, MaliTexDescStallCy, MaliTexDataFetchStallCy, MaliTexFiltStallCy)",
        "MaliTexClkActiveCy",
    ),
    most(All, "quads before the warps within the main phase", "MaliFragFPKActiveCy", "MaliMainActiveCy"),
    most(All, "main phase on the cores there are", "MaliMainActiveCy", "$cores * MaliMainQueueActiveCy"),
    most(
        All,
        "other phases on the cores there are",
        "MaliCompOrBinningActiveCy",
        "$cores * (MaliBinningQueueActiveCy + MaliCompQueueActiveCy)",
    ),
    // Units of cores: issues by their rate. Arithmetic by the published issue rule.
    most(
        All,
        "fragment arithmetic within the main phase",
        "16 * max((TuffMainFmaInstr + TuffMainCvtInstr + TuffMainSfuInstr) / $fma_lanes, \
         (TuffMainCvtInstr + TuffMainSfuInstr) / $cvt_lanes, TuffMainSfuInstr / $sfu_lanes)",
        "MaliMainActiveCy",
    ),
    most(
        All,
        "vertex and compute arithmetic within their phases",
        "16 * (max((TuffBinningFmaInstr + TuffBinningCvtInstr + TuffBinningSfuInstr) / $fma_lanes, \
         (TuffBinningCvtInstr + TuffBinningSfuInstr) / $cvt_lanes, TuffBinningSfuInstr / $sfu_lanes) + \
         max((TuffComputeFmaInstr + TuffComputeCvtInstr + TuffComputeSfuInstr) / $fma_lanes, \
         (TuffComputeCvtInstr + TuffComputeSfuInstr) / $cvt_lanes, TuffComputeSfuInstr / $sfu_lanes))",
        "MaliCompOrBinningActiveCy",
    ),
    most(
        All,
        "arithmetic within execution",
        "16 * max((TuffFmaInstr + TuffCvtInstr + TuffSfuInstr) / $fma_lanes, \
         (TuffCvtInstr + TuffSfuInstr) / $cvt_lanes, TuffSfuInstr / $sfu_lanes)",
        "MaliCoreActiveCy",
    ),
    most(All, "load/store within execution", "MaliLSIssueCy / $ls_issues", "MaliCoreActiveCy"),
    most(
        All,
        "varying within execution",
        "(MaliVar32IssueSlot + MaliVar16IssueSlot) / $varying_slots",
        "MaliCoreActiveCy",
    ),
    most(
        All,
        "varying within the main phase",
        "(MaliVar32IssueSlot + MaliVar16IssueSlot) / $varying_slots",
        "MaliMainActiveCy",
    ),
    most(All, "texture within execution", "TuffTexFilterOps / $texels", "MaliCoreActiveCy"),
    most(All, "every stage of texture units within execution", "MaliTexIssueCy", "MaliCoreActiveCy"),
    most(All, "ray tracing units within execution", "MaliRTUIssueCy", "MaliCoreActiveCy"),
    most(All, "primitives within the main phase", "MaliFragRastPrim", "MaliMainActiveCy"),
    most(All, "quads within the main phase", "MaliFragRastQd / $raster_quads", "MaliMainActiveCy"),
    most(All, "blended quads within the main phase", "TuffBlendQuads * 4 / $pixels", "MaliMainActiveCy"),
    most(All, "written pixels within the main phase", "TuffTilePixels / $pixels", "MaliMainActiveCy"),
    most(
        All,
        "beats read within cores' cycles",
        "(MaliSCBusLSL2RdBt + MaliSCBusTexL2RdBt + MaliSCBusOtherL2RdBt + MaliSCBusFFEL2RdBt) * 16 / $l2_bytes",
        "MaliAnyActiveCy",
    ),
    most(
        All,
        "beats written within cores' cycles",
        "(MaliSCBusLSWBWrBt + MaliSCBusLSOtherWrBt + MaliSCBusTileWrBt) * 16 / $l2_bytes",
        "MaliAnyActiveCy",
    ),
    // What cores share.
    most(
        All,
        "primitives within the tiler's cycles",
        "TuffInputPrimitives / $primitives",
        "MaliTilerActiveCy",
    ),
    most(
        All,
        "primitives to clip within the tiler's cycles",
        "TuffClippingInvocations / $primitives",
        "MaliTilerActiveCy",
    ),
    most(All, "list entries within the tiler's cycles", "TuffBinEntries / $bin_entries", "MaliTilerActiveCy"),
    most(
        All,
        "external bytes within the queues' cycles",
        "(TuffExtReadBytes + TuffExtWriteBytes) / $external_bytes",
        "MaliBinningQueueActiveCy + MaliCompQueueActiveCy + MaliMainQueueActiveCy",
    ),
    most(
        All,
        "L2 lookups within the queues' cycles",
        "MaliL2CacheLookup * 64 / ($l2_slices * $slice_bytes)",
        "MaliBinningQueueActiveCy + MaliCompQueueActiveCy + MaliMainQueueActiveCy",
    ),
    // Primitives.
    // Stages make others of what is assembled; where nothing is rasterised primitives are neither.
    most(
        All,
        "visible and culled primitives reached clipping",
        "MaliGeomVisiblePrim + MaliGeomTotalCullPrim",
        "TuffClippingInvocations",
    ),
    same(
        "input = triangles + lines + points",
        "TuffInputPrimitives",
        "MaliGeomTrianglePrim + MaliGeomLinePrim + MaliGeomPointPrim",
    ),
    most(
        All,
        "front and back faces are visible primitives",
        "MaliGeomFrontFacePrim + MaliGeomBackFacePrim",
        "MaliGeomVisiblePrim",
    ),
    most(All, "varying misses are of requests", "MaliTilerVarCacheMiss", "4 * MaliGeomVarShadTask"),
    // Warps and threads.
    same("non-fragment = vertex + compute warps", "MaliNonFragWarp", "TuffVertexWarps + TuffComputeWarps"),
    most(All, "full warps are warps", "MaliCoreFullWarp", "MaliNonFragWarp + MaliFragWarp"),
    most(All, "warps of many registers are warps", "MaliCoreAllRegsWarp", "MaliNonFragWarp + MaliFragWarp"),
    most(All, "fragment threads in their warps", "MaliFragThread", "16 * MaliFragWarp"),
    most(All, "non-fragment threads in their warps", "TuffNonFragThreads", "16 * MaliNonFragWarp"),
    most(All, "full warps are full", "16 * MaliCoreFullWarp", "MaliFragThread + TuffNonFragThreads"),
    most(All, "fragment invocations are threads", "TuffFragmentInvocations", "MaliFragThread"),
    most(
        All,
        "vertex and compute invocations are threads",
        "TuffVertexInvocations + TuffComputeInvocations",
        "TuffNonFragThreads",
    ),
    // Instructions.
    same(
        "FMA = sum of phases",
        "TuffFmaInstr",
        "TuffBinningFmaInstr + TuffComputeFmaInstr + TuffMainFmaInstr",
    ),
    same(
        "CVT = sum of phases",
        "TuffCvtInstr",
        "TuffBinningCvtInstr + TuffComputeCvtInstr + TuffMainCvtInstr",
    ),
    same(
        "SFU = sum of phases",
        "TuffSfuInstr",
        "TuffBinningSfuInstr + TuffComputeSfuInstr + TuffMainSfuInstr",
    ),
    most(All, "narrow within arithmetic", "TuffNarrowInstr", "TuffFmaInstr + TuffCvtInstr + TuffSfuInstr"),
    most(
        All,
        "diverged within arithmetic",
        "TuffDivergedInstr",
        "TuffFmaInstr + TuffCvtInstr + TuffSfuInstr",
    ),
    // Quads and tiles.
    most(All, "killed tiles are tiles", "TuffTilesKilled", "MaliFragTile"),
    // A task has 64 × 64 pixels, a tile 16 × 8 at least: fewer, the more a pixel holds (docs/model.md).
    most(All, "tiles in tasks", "MaliFragTile", "32 * MaliMainQueueTask"),
    most(All, "partial quads are quads", "MaliFragRastPartQd", "MaliFragRastQd"),
    most(All, "quads are coarse quads", "MaliFragRastQd", "MaliFragRastCoarseQd"),
    most(All, "early tests kill what they test", "MaliFragEZSKillQd", "MaliFragEZSTestQd"),
    most(All, "early tests update what they test", "MaliFragEZSUpdateQd", "MaliFragEZSTestQd"),
    most(All, "late tests kill what they test", "MaliFragLZSKillQd", "MaliFragLZSTestQd"),
    most(All, "shaded quads in warps", "TuffQuadsShaded", "4 * MaliFragWarp"),
    same("four threads to a shaded quad", "4 * TuffQuadsShaded", "MaliFragThread"),
    most(
        All,
        "killed, hidden and shaded are coarse quads",
        "MaliFragEZSKillQd + TuffQuadsHidden + TuffQuadsShaded",
        "MaliFragRastCoarseQd",
    ),
    most(
        All,
        "occluding quads are hidden or shaded",
        "MaliFragOpaqueQd",
        "TuffQuadsHidden + TuffQuadsShaded",
    ),
    // Textures, caches and memory.
    most(All, "single-quad messages are messages", "MaliTexOutSingleMsg", "MaliTexOutMsg"),
    // A look-up is of four lines at most; its cycles are cut.
    most(All, "texture L1 misses are lookups", "TuffTexL1Misses", "(MaliTexL1CacheLookupCy + 1) * $texels"),
    same(
        "simple + complex = all beats into the texture L1",
        "MaliTexL1CacheLoadCy",
        "MaliTexCacheSimpleLoadCy + MaliTexCacheComplexLoadCy",
    ),
    most(All, "indices are calculated for what is fetched", "MaliTexIndexCy", "MaliTexCacheLookupCy"),
    most(All, "messages have beats", "MaliTexOutMsg", "min(MaliTexInBt, MaliTexOutBt)"),
    most(All, "blend shaders blend quads", "TuffBlendShaderQuads", "TuffBlendQuads"),
    // Translation: a page is there, or read; of those read, the section is there, or read.
    same("lookups of pages = hits + reads", "MaliMMULookup", "MaliMMUL3Hit + MaliMMUL3Rd"),
    same("reads of pages = hits + reads of sections", "MaliMMUL3Rd", "MaliMMUL2Hit + MaliMMUL2Rd"),
    // External memory.
    same("reads are not snooped", "MaliExtBusRd", "MaliExtBusRdNoSnoop"),
    same(
        "writes are whole or parts, and not snooped",
        "MaliExtBusWr",
        "MaliExtBusWrNoSnoopFull + MaliExtBusWrNoSnoopPart",
    ),
    same(
        "bands of latency = read beats",
        "MaliExtBusRdBt",
        "MaliExtBusRdLat0 + MaliExtBusRdLat128 + MaliExtBusRdLat192 + MaliExtBusRdLat256 + MaliExtBusRdLat320 + \
         MaliExtBusRdLat384",
    ),
    same(
        "bands of outstanding reads = reads",
        "MaliExtBusRd",
        "MaliExtBusRdOTQ1 + MaliExtBusRdOTQ2 + MaliExtBusRdOTQ3 + MaliExtBusRdOTQ4",
    ),
    same(
        "bands of outstanding writes = writes",
        "MaliExtBusWr",
        "MaliExtBusWrOTQ1 + MaliExtBusWrOTQ2 + MaliExtBusWrOTQ3 + MaliExtBusWrOTQ4",
    ),
    most(
        All,
        "external memory refuses while it is in use",
        "(MaliExtBusRdStallCy + MaliExtBusWrStallCy) / $l2_slices",
        "MaliBinningQueueActiveCy + MaliCompQueueActiveCy + MaliMainQueueActiveCy",
    ),
    most(
        All,
        "requests to the L2 wait for a slice's cycle at most",
        "MaliL2CacheRdStallCy + MaliL2CacheWrStallCy",
        "MaliL2CacheLookup * 64 / $slice_bytes",
    ),
    most(All, "load/store's external beats are L2 beats", "MaliSCBusLSExtRdBt", "MaliSCBusLSL2RdBt"),
    most(All, "texture's external beats are L2 beats", "MaliSCBusTexExtRdBt", "MaliSCBusTexL2RdBt"),
    most(All, "front end's external beats are L2 beats", "MaliSCBusFFEExtRdBt", "MaliSCBusFFEL2RdBt"),
    most(
        All,
        "external reads of units within all",
        "MaliSCBusLSExtRdBy + MaliSCBusTexExtRdBy + MaliSCBusFFEExtRdBy",
        "TuffExtReadBytes",
    ),
    most(All, "read beats hold the bytes", "TuffExtReadBytes + 1", "MaliExtBusRdBy + $bus_bytes"),
    most(All, "written beats hold the bytes", "TuffExtWriteBytes + 1", "MaliExtBusWrBy + $bus_bytes"),
];
