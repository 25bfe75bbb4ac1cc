//! VK_KHR_pipeline_executable_properties: how statistics are asked for, and the static costs among them.
//!
//! What shaders cost is worked out from their GLSL by the rules at the top of `crates/shader/src/cost.rs`: an addition,
//! multiplication or multiply–add of floats is an FMA instruction; comparing, adding integers, converting is a
//! CVT instruction; roots, integer products, logic and shifts are SFU instructions; 64 bits cost twice; an access is an
//! instruction for each 16 bytes of a lane; push constants, descriptors, and what follows from them alone, are free. Element i
//! of an array of 2ⁿ bytes each is at i << n: an SFU instruction, once for all arrays of that element size.
//! The default model does 128, 64 and 16 lanes a cycle (a warp has 16): 1/8 cycle an FMA instruction, 1/4 a CVT one
//! and 1 an SFU one; all arithmetic shares the 128, and CVT and SFU together the 64. An access is a cycle; a texture
//! sample is 16 bilinear operations of which 8 are done a cycle; an interpolated component is 4 slots of 4 a cycle.

use super::rig::INSTRUMENT;
use super::{Check, Found, Rig, check_list, holds, same, text};
use client::Kernel;
use client::compute::KernelInfo;
use client::graphics::{Bindings, ImageInfo, PipelineInfo, Resource, Sampler};
use std::collections::BTreeMap;
use vk::PipelineCreateFlags as Flags;

pub fn checks() -> Vec<Check> {
    check_list![
        statistics_count_then_fetch = count_then_fetch,
        statistics_need_their_flag = need_their_flag,
        static_cost_of_straight_code = straight,
        static_cost_of_sides = sides,
        static_cost_of_a_loop = a_loop,
        static_cost_of_widths = widths,
        static_cost_of_packed_values = packed,
        static_cost_of_stages = stages,
        occupancy
    ]
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/static/", $name, ".spv"))
    };
}

const STATISTICS: vk::PipelineCreateFlags2KHR =
    vk::PipelineCreateFlags2KHR::from_raw(Flags::CAPTURE_STATISTICS_KHR.as_raw() as u64);
const TEXTS: vk::PipelineCreateFlags2KHR =
    vk::PipelineCreateFlags2KHR::from_raw(Flags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR.as_raw() as u64);

/// Statistics by name: whole ones as numbers, which are exact.
type Statistics = BTreeMap<String, f64>;

impl Rig {
    /// One call: result, count told, and as many structures as `room`, with one more after them.
    fn ask(
        &self,
        pipeline: vk::Pipeline,
        executable: u32,
        room: Option<u32>,
    ) -> (vk::Result, u32, Vec<vk::PipelineExecutableStatisticKHR<'static>>) {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(executable);
        let mut count = room.unwrap_or(0);
        let mut list = vec![vk::PipelineExecutableStatisticKHR::default(); count as usize + 1];
        let out = if room.is_none() { std::ptr::null_mut() } else { list.as_mut_ptr() };
        let f = self.executable.fp().get_pipeline_executable_statistics_khr;
        // SAFETY: live handles; `list` has room for `count` structures.
        let result = unsafe { f(self.context.device.handle(), &info, &mut count, out) };
        (result, count, list)
    }

    fn statistics(&self, pipeline: vk::Pipeline, executable: u32) -> Result<Statistics, String> {
        let (result, count, _) = self.ask(pipeline, executable, None);
        same("counting statistics", result, vk::Result::SUCCESS)?;
        let (result, told, list) = self.ask(pipeline, executable, Some(count));
        same("fetching statistics", (result, told), (vk::Result::SUCCESS, count))?;
        let value = |s: &vk::PipelineExecutableStatisticKHR| {
            // SAFETY: the format says which member there is.
            let v = unsafe {
                match s.format {
                    vk::PipelineExecutableStatisticFormatKHR::UINT64 => s.value.u64 as f64,
                    vk::PipelineExecutableStatisticFormatKHR::FLOAT64 => s.value.f64,
                    other => return Err(format!("format {other:?}")),
                }
            };
            Ok((client::library::name(&s.name), v))
        };
        list[..count as usize].iter().map(value).collect()
    }

    fn measured(&self, spirv: &[u8], bindings: u32, push_size: u32) -> Result<Statistics, String> {
        let kernel = |flags| {
            let info = KernelInfo { spirv, bindings, push_size };
            Kernel::with_flags(&self.context, &info, flags).map_err(text)
        };
        let plain = self.statistics(kernel(STATISTICS)?.pipeline, 0)?;
        // Marks cost nothing: an instrumented shader is told the same.
        let marked = self.statistics(kernel(STATISTICS | INSTRUMENT)?.pipeline, 0)?;
        for (name, v) in plain.iter().filter(|(n, _)| n.ends_with(" cycles")) {
            same(&format!("{name}, instrumented"), marked.get(name), Some(v))?;
        }
        Ok(plain)
    }
}

/// Cycles of a warp: all arithmetic, FMA, CVT, SFU, load/store, varying, texture.
type Cycles = [f64; 7];
const PIPES: [&str; 7] = ["arithmetic", "FMA", "CVT", "SFU", "load/store", "varying", "texture"];

/// That one of the ways through the code takes these cycles.
fn path(s: &Statistics, name: &str, want: Cycles) -> Result<(), String> {
    for (pipe, want) in PIPES.iter().zip(want) {
        let name = format!("{name} {pipe} cycles");
        same(&name, s.get(&name).copied(), Some(want))?;
    }
    Ok(())
}

fn found(s: &Statistics) -> Found {
    Ok(s.values().map(|v| v.to_bits()).collect())
}

/// The specification's idiom: count with no array; `INCOMPLETE` for an array that is too small, and nothing is written
/// after it.
fn count_then_fetch(rig: &Rig) -> Found {
    let info = KernelInfo { spirv: shader!("straight.comp"), bindings: 2, push_size: 4 };
    let kernel = Kernel::with_flags(&rig.context, &info, STATISTICS).map_err(text)?;
    let (result, all, _) = rig.ask(kernel.pipeline, 0, None);
    same("the count", result, vk::Result::SUCCESS)?;
    holds("there are too few statistics", all > 21)?;
    let full = rig.ask(kernel.pipeline, 0, Some(all)).2;
    let told = |s: &vk::PipelineExecutableStatisticKHR| {
        // SAFETY: every member is 64 bits of the union but b32, which is not used here.
        (client::library::name(&s.name), s.format, unsafe { s.value.u64 })
    };
    for room in [0, 1, all - 1, all, all + 3] {
        let (result, count, list) = rig.ask(kernel.pipeline, 0, Some(room));
        let want = if room < all { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS };
        same(&format!("room for {room}: result and count"), (result, count), (want, room.min(all)))?;
        for (i, s) in list.iter().enumerate() {
            let inside = (i as u32) < count;
            same("a statistic's name is written", s.name[0] != 0, inside)?;
            holds("a short fetch tells the same", !inside || told(s) == told(&full[i]))?;
            holds("a statistic is described", !inside || s.description[0] != 0)?;
        }
    }
    let mut names: Vec<_> = full[..all as usize].iter().map(|s| client::library::name(&s.name)).collect();
    names.sort();
    names.dedup();
    same("different names", names.len(), all as usize)?;
    Ok(vec![all.into()])
}

/// VUID-vkGetPipelineExecutableStatisticsKHR-pipeline-03274, its sister 03278 of representations, and 03275 of the
/// index: refused, and nothing is written. (The application's fault, so the layers must be off.)
fn need_their_flag(rig: &Rig) -> Found {
    let info = KernelInfo { spirv: shader!("straight.comp"), bindings: 2, push_size: 4 };
    let kernel = |flags| Kernel::with_flags(&rig.context, &info, flags).map_err(text);
    let (statistics, texts, neither) = (kernel(STATISTICS)?, kernel(TEXTS)?, kernel(INSTRUMENT)?);
    let representations = |p: vk::Pipeline, executable| {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(p).executable_index(executable);
        let mut count = 77;
        let f = rig.executable.fp().get_pipeline_executable_internal_representations_khr;
        // SAFETY: live handles, and only the count is asked for.
        let result = unsafe { f(rig.context.device.handle(), &info, &mut count, std::ptr::null_mut()) };
        (result, count)
    };
    let refused = vk::Result::ERROR_VALIDATION_FAILED_EXT;
    for (kernel, executable) in [(&texts, 0), (&neither, 0), (&statistics, 1)] {
        for room in [None, Some(5)] {
            let (result, count, list) = rig.ask(kernel.pipeline, executable, room);
            same("statistics without their flag", result, refused)?;
            same("their count", count, room.unwrap_or(0))?;
            holds("nothing is written", list.iter().all(|s| s.name[0] == 0))?;
        }
    }
    same("representations without their flag", representations(statistics.pipeline, 0), (refused, 77))?;
    same("of an executable that is not there", representations(texts.pipeline, 1), (refused, 77))?;
    same("the wave program alone", representations(texts.pipeline, 0), (vk::Result::SUCCESS, 1))?;
    // Metrics are read by the table of blocks, so that is told without the flag.
    same("and the table of blocks", representations(neither.pipeline, 0), (vk::Result::SUCCESS, 2))?;
    // The flag of one question does not change what is told: "must not affect the final compiled pipeline".
    let both = kernel(STATISTICS | TEXTS)?;
    let (with, alone) = (rig.statistics(both.pipeline, 0)?, rig.statistics(statistics.pipeline, 0)?);
    same("statistics by one flag and by two", &with, &alone)?;
    found(&alone)
}

fn straight(rig: &Rig) -> Found {
    let s = rig.measured(shader!("straight.comp"), 2, 4)?;
    // Eight fma: 8 / 8 = 1 FMA. i << 2: 1 SFU. All: (8 + 1) / 8 of the 128 lanes. a[i] and result[i]: 2 accesses.
    // The push constant: nothing. There is one way through it.
    for name in ["Total", "Shortest path", "Longest path"] {
        path(&s, name, [1.125, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0])?;
    }
    same("16-bit arithmetic", s["16-bit arithmetic"], 0.0)?;
    same("stack bytes", s["Stack bytes"], 0.0)?;
    found(&s)
}

fn sides(rig: &Rig) -> Found {
    let s = rig.measured(shader!("sides.comp"), 3, 0)?;
    // On every way: i << 2 is 1 SFU, the comparison 1 CVT, a[i] and result[i] are 2 accesses.
    // The dear side: 4 FMA, 1 SFU (inversesqrt), 1 access. The cheap side: 1 FMA.
    // All of the code: FMA 5, CVT 1, SFU 2, accesses 3. 8 instructions of arithmetic take 8 / 8 = 1 cycle, CVT and SFU
    // 3 / 4, the SFU 2.
    path(&s, "Total", [2.0, 0.625, 0.25, 2.0, 3.0, 0.0, 0.0])?;
    // Cheap: FMA 1, CVT 1, SFU 1: 3 / 8 of all lanes, 2 / 4 of the CVT's and SFU's, but 1 of the SFU.
    path(&s, "Shortest path", [1.0, 0.125, 0.25, 1.0, 2.0, 0.0, 0.0])?;
    // Dear: FMA 4, CVT 1, SFU 2: 7 / 8, 3 / 4, and 2 of the SFU.
    path(&s, "Longest path", [2.0, 0.5, 0.25, 2.0, 3.0, 0.0, 0.0])?;
    found(&s)
}

fn a_loop(rig: &Rig) -> Found {
    let s = rig.measured(shader!("trips.comp"), 3, 0)?;
    // i << 2: 1 SFU. k++ and k < n: 2 CVT. Two fma. a[i], trips[i], result[i]: 3 accesses. 5 / 8 < 3 / 4 < 1 of the SFU.
    // All of the code once, and the shortest way: the body runs at least once.
    for name in ["Total", "Shortest path"] {
        path(&s, name, [1.0, 0.25, 0.5, 1.0, 3.0, 0.0, 0.0])?;
    }
    let longest: Vec<_> = s.keys().filter(|n| n.starts_with("Longest")).collect();
    same("a longest way through a loop of unknown trips", longest.len(), 0)?;
    found(&s)
}

fn widths(rig: &Rig) -> Found {
    let s = rig.measured(shader!("widths.comp"), 4, 0)?;
    // Three fma of 64 bits: 6 FMA. The addition of 5: 1 CVT. i << 3, i << 4, i << 1 and z * z: 4 SFU, which take longer than
    // the 11 / 8 cycles of all. Each of the six accesses moves 16 bytes a lane or fewer.
    path(&s, "Total", [4.0, 0.75, 0.25, 4.0, 6.0, 0.0, 0.0])?;
    // z * z and + 5, of 11 instructions.
    same("16-bit arithmetic", s["16-bit arithmetic"], 200.0 / 11.0)?;
    found(&s)
}

fn packed(rig: &Rig) -> Found {
    let s = rig.measured(shader!("halves.comp"), 3, 0)?;
    // Registers hold two halves, so four products and four sums are 2 FMA each; the three products that need each other
    // one each. Four sums of bytes are 1 CVT; i << 3, i << 2 and i << 1 are 3 SFU, more than 11 / 8. Five accesses.
    path(&s, "Total", [3.0, 0.875, 0.25, 3.0, 5.0, 0.0, 0.0])?;
    // Of 11 instructions, 8.
    same("16-bit arithmetic", s["16-bit arithmetic"], 800.0 / 11.0)?;
    found(&s)
}

/// A vertex and a fragment shader of one pipeline, each told by itself.
fn stages(rig: &Rig) -> Found {
    let texture = rig.image(ImageInfo::texture(vk::Format::R8G8B8A8_UNORM, [4; 2]))?;
    let sampler = Sampler::linear(&rig.context).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Texture(&texture, &sampler)]);
    let bindings = bindings.map_err(text)?;
    let change = |i: &mut PipelineInfo| {
        i.vertex = shader!("sample.vert");
        i.flags2 = STATISTICS;
    };
    let p = rig.pipeline_with(shader!("sample.frag"), Some(&bindings), change)?;
    let (vertex, fragment) = (rig.statistics(p.handle, 0)?, rig.statistics(p.handle, 1)?);
    // & and >>: 2 SFU. Two conversions: 2 CVT. Two products and two fma: 4 FMA. Outputs are written as they are computed.
    path(&vertex, "Total", [2.0, 0.5, 0.5, 2.0, 0.0, 0.0, 0.0])?;
    // Four fma. The factor follows from push constants: free. Two components of uv; f is flat. A sample: 16 / 8. ATEST and BLEND at
    // the end: 2 CVT.
    for name in ["Total", "Shortest path", "Longest path"] {
        path(&fragment, name, [0.75, 0.5, 0.5, 0.0, 0.0, 2.0, 2.0])?;
    }
    same(
        "statistics of a third stage",
        rig.ask(p.handle, 2, None).0,
        vk::Result::ERROR_VALIDATION_FAILED_EXT,
    )?;
    Ok([found(&vertex)?, found(&fragment)?].concat())
}

/// Half of the warps fit a core when one needs more than 32 registers.
fn occupancy(rig: &Rig) -> Found {
    let small = rig.measured(shader!("straight.comp"), 2, 4)?;
    // x and where it goes; s is the same for all, and might have one of its own; so might a[i]'s place.
    holds("registers of straight code", (2.0..=4.0).contains(&small["Work registers"]))?;
    same("percent of a core's warps", small["Thread occupancy"], 100.0)?;
    // A store may change what a later load finds, so all forty words are there at once; and no more than as many again
    // is there besides.
    let many = rig.measured(shader!("many.comp"), 1, 0)?;
    holds("registers of forty words", (40.0..=80.0).contains(&many["Work registers"]))?;
    same("percent of a core's warps, many registers", many["Thread occupancy"], 50.0)?;
    // Rows of 160 bytes: i * 160 is 1 SFU. Ten accesses of 16 bytes a lane each way, constant distances apart.
    path(&many, "Total", [1.0, 0.0, 0.0, 1.0, 20.0, 0.0, 0.0])?;
    Ok([found(&small)?, found(&many)?].concat())
}
