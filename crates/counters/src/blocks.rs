//! What is measured of each basic block of an instrumented shader (VK_ARM_shader_instrumentation).

/// Values of a block, in the order of [`METRIC`].
pub const METRICS: usize = 11;

/// Name and description of each metric. All are sums over the warps (16 threads) that ran the block. Cycles are those that a
/// unit of one shader core is busy at the rates of the model, rounded up once a draw or dispatch: the greatest tells what
/// binds the block.
pub static METRIC: [(&str, &str); METRICS] = [
    ("Executed warps", "Warps that ran the block with at least one thread, each time they ran it"),
    ("Executed threads", "Threads that ran the block, each time they ran it; helper invocations left out"),
    ("Diverged warps", "Executed warps in which fewer threads ran the block than the warp began with"),
    (
        "Arithmetic cycles",
        "Cycles of a core that the block's arithmetic takes, by the issue rule of its pipes",
    ),
    ("FMA cycles", "Of these, what the FMA pipe alone takes (add, multiply)"),
    ("CVT cycles", "Of these, what the CVT pipe alone takes (convert, compare, integer, logic)"),
    ("SFU cycles", "Of these, what the SFU pipe alone takes (reciprocal, root, logarithm, sine)"),
    (
        "Load/store cycles",
        "Cycles of a core's load/store unit, an issue for each cache line of a warp's access",
    ),
    ("Texture cycles", "Cycles of a core's texture unit, for the bilinear operations of the block's samples"),
    (
        "Varying cycles",
        "Cycles of a core's varying unit, for each component, or two of 16 bits; at the block that loads an input first",
    ),
    (
        "Cache lines",
        "Cache lines of 64 bytes that the block's loads, stores and atomics touched, warp by warp",
    ),
];
