//! The GPU's properties as `get_gpuprops` gives them: keys that tell the sizes of their values, tightly packed.

use crate::sample::Shape;
use counters::Model;
use counters::model::WARP;

/// Arch 12, product 8: how a G720 calls itself.
const GPU_ID: u64 = 0xC870_0010;
/// What the core's features say of a G720 with two execution engines: the rates of the model.
const CORE_FEATURES: u64 = 4;

/// `gpuprop_code`s.
const PRODUCT_ID: u32 = 1;
const MINOR_REVISION: u32 = 3;
const MAJOR_REVISION: u32 = 4;
const GPU_FREQ_KHZ_MAX: u32 = 6;
const L2_LOG2_LINE_SIZE: u32 = 13;
const L2_LOG2_CACHE_SIZE: u32 = 14;
const L2_NUM_L2_SLICES: u32 = 15;
const MAX_THREADS: u32 = 18;
const RAW_SHADER_PRESENT: u32 = 25;
const RAW_TILER_PRESENT: u32 = 26;
const RAW_L2_PRESENT: u32 = 27;
const RAW_L2_FEATURES: u32 = 29;
const RAW_CORE_FEATURES: u32 = 30;
const RAW_GPU_ID: u32 = 55;
const RAW_THREAD_FEATURES: u32 = 59;
const COHERENCY_NUM_GROUPS: u32 = 61;
const COHERENCY_NUM_CORE_GROUPS: u32 = 62;
const COHERENCY_GROUP_0: u32 = 64;

/// So many ones.
fn mask(count: u16) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The list for a model. What the model has no number for is left out, as older kernels do.
pub fn encode(model: &Model, shape: &Shape) -> Vec<u8> {
    let memory = &model.memory;
    let slice = (memory.l2_kib * 1024 / u64::from(shape.slices)).max(1);
    // The register has the logarithm of the width in bits, for which a width that is no power of two is rounded down.
    let bus = u64::from((memory.bus_bytes * 8).ilog2());
    let log2_line = u64::from(counters::model::LINE.ilog2());
    let l2_features = bus << 24 | u64::from(slice.ilog2()) << 16 | log2_line;
    let cores = mask(shape.cores);
    const U8: u32 = 0;
    const U16: u32 = 1;
    const U32: u32 = 2;
    const U64: u32 = 3;
    let list = [
        (PRODUCT_ID, U16, GPU_ID >> 16),
        (MINOR_REVISION, U16, GPU_ID >> 4 & 0xFF),
        (MAJOR_REVISION, U16, GPU_ID >> 12 & 0xF),
        (GPU_FREQ_KHZ_MAX, U32, model.clock_mhz * 1000),
        (L2_LOG2_LINE_SIZE, U8, log2_line),
        (L2_LOG2_CACHE_SIZE, U8, u64::from(slice.ilog2())),
        (L2_NUM_L2_SLICES, U8, u64::from(shape.slices)),
        (MAX_THREADS, U32, model.core.warps * WARP),
        (RAW_SHADER_PRESENT, U64, cores),
        (RAW_TILER_PRESENT, U64, 1),
        (RAW_L2_PRESENT, U64, mask(shape.slices)),
        (RAW_L2_FEATURES, U32, l2_features),
        (RAW_CORE_FEATURES, U32, CORE_FEATURES),
        (RAW_GPU_ID, U64, GPU_ID),
        (RAW_THREAD_FEATURES, U32, 0),
        (COHERENCY_NUM_GROUPS, U32, 1),
        (COHERENCY_NUM_CORE_GROUPS, U32, 1),
        (COHERENCY_GROUP_0, U64, cores),
    ];
    let mut bytes = Vec::new();
    for (code, size, value) in list {
        bytes.extend((code << 2 | size).to_le_bytes());
        bytes.extend(&value.to_le_bytes()[..1 << size]);
    }
    bytes
}
