//! VK_KHR_pipeline_executable_properties: a pipeline's programs, their sizes, their disassembly.

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::base::given::{Call, In, List, OutSlice};
use crate::base::hash;
use crate::device::Device;
use crate::device::measured::stage_name;
use crate::instance::limits::SUBGROUP_SIZE;
use crate::pipeline::{Executable, Pipeline, pipeline_ray_tracing, wide};
use shader::bytecode::Program;
use std::fmt::Write;
use vk::PipelineCreateFlags as Flags;
use vk::PipelineExecutableStatisticFormatKHR as Format;

pub(crate) fn get_pipeline_executable_properties_khr(
    _: &Device,
    info: In<vk::PipelineInfoKHR>,
    out: List<vk::PipelineExecutablePropertiesKHR>,
) -> vk::Result {
    let Some(p) = info.object::<Pipeline>(info.pipeline) else { return vk::Result::ERROR_UNKNOWN };
    let stages = &p.shared().stages;
    out.fill_with(stages.len(), |mut o, i| {
        let e = &stages[i];
        o.stages = e.stage;
        chain::write_str(&mut o.name, &format!("{} shader {}", stage_name(e.stage), e.compiled.name));
        let mut text = format!("Tuff wave program {:032x}, {} lanes a wave", e.key, e.compiled.program.lanes);
        if let Some(rays) = pipeline_ray_tracing::rays(p.shared()) {
            let groups = rays.groups.iter().enumerate().filter(|(_, g)| g.has(i)).map(|(k, _)| k.to_string());
            let _ = write!(text, ", groups {}", groups.collect::<Vec<_>>().join(" "));
        }
        chain::write_str(&mut o.description, &text);
        o.subgroup_size = SUBGROUP_SIZE;
    })
}

/// # Safety
/// `out` is a structure of those that the command knows, or null.
pub(crate) unsafe fn get_pipeline_properties_ext(
    _: &Device,
    info: In<vk::PipelineInfoKHR>,
    out: *mut vk::BaseOutStructure,
) -> vk::Result {
    let Some(p) = info.object::<Pipeline>(info.pipeline) else { return vk::Result::ERROR_UNKNOWN };
    // SAFETY: null, or the beginning of a structure.
    let kind = unsafe { out.as_ref().map(|o| o.s_type) };
    if kind != Some(vk::StructureType::PIPELINE_PROPERTIES_IDENTIFIER_EXT) {
        return invalid(
            "vkGetPipelinePropertiesEXT: pPipelineProperties is no VkPipelinePropertiesIdentifierEXT",
        );
    }
    // The same on every run: the programs, what decides how they are compiled, and how the pipeline was created.
    let shared = p.shared();
    let mut bytes = shared.flags.as_raw().to_le_bytes().to_vec();
    shared.stages.iter().for_each(|e| bytes.extend(e.key.to_le_bytes()));
    // SAFETY: it is such a structure.
    let out = unsafe { &mut *out.cast::<vk::PipelinePropertiesIdentifierEXT>() };
    out.pipeline_identifier = hash::bytes(&bytes).to_be_bytes();
    vk::Result::SUCCESS
}

/// The executable that is asked about, if its pipeline was created with `flag` (or is of such as `command` answers
/// all the same). An error is VUID-…-executableIndex-03275, or -pipeline-03274 and -03278.
fn executable<'a>(
    info: In<'a, vk::PipelineExecutableInfoKHR<'a>>,
    command: &str,
    flag: Flags,
    or: impl Fn(&Executable) -> bool,
) -> Answer<&'a Executable> {
    let p = info.object::<Pipeline>(info.pipeline).ok_or(vk::Result::ERROR_UNKNOWN)?.shared();
    let (i, n) = (info.executable_index, p.stages.len());
    let Some(e) = p.stages.get(i as usize) else {
        return Err(invalid(&format!("{command}: executable {i} of a pipeline that has {n}")));
    };
    if !p.flags.contains(wide(flag)) && !or(e) {
        return Err(invalid(&format!("{command}: the pipeline was not created with {flag:?}")));
    }
    Ok(e)
}

/// A statistic: name, description, value.
type Statistic = (String, String, Number);

enum Number {
    Whole(u64),
    Real(f64),
}

/// What the engine's program is like, and what an offline compiler would say of the shader on the modelled GPU.
fn statistics(p: &Program) -> Vec<Statistic> {
    let engine: [(&str, &str, u64); 7] = [
        ("Instructions", "Ops of the wave program", p.code.len() as u64),
        ("Registers", "Units of 64 bytes in a wave's register file", p.units as u64),
        ("Lanes", "Lanes of a wave", p.lanes as u64),
        ("Prologue", "Ops that run once per thread and dispatch", p.prologue as u64),
        ("Constants", "Constants in registers", p.consts.len() as u64),
        ("Scratch", "Private words of a lane", p.scratch_words as u64),
        ("Shared", "Bytes of workgroup memory", p.shared_bytes as u64),
    ];
    let mut all: Vec<Statistic> =
        engine.into_iter().map(|(n, d, v)| (n.into(), d.into(), Number::Whole(v))).collect();
    let profile = &p.profile;
    let mut add = |n: &str, d: &str, v| all.push((n.into(), d.into(), v));
    add(
        "Work registers",
        "32-bit registers that an invocation needs on the modelled GPU",
        Number::Whole(profile.registers as u64),
    );
    let occupancy = counters::once::occupancy(profile.registers as u64);
    add(
        "Thread occupancy",
        "Percent of a core's warps that can be resident: half with more than 32 work registers",
        Number::Whole(occupancy),
    );
    add(
        "Stack bytes",
        "Bytes of memory for an invocation's private arrays",
        Number::Whole(p.scratch_words as u64 * 4),
    );
    let t = &profile.ways.total;
    add(
        "16-bit arithmetic",
        "Percent of the arithmetic instructions that work on 16 bits or fewer",
        Number::Real(t.narrow_percent()),
    );
    cycles(&mut all, "Total", "all of the code once", t);
    cycles(&mut all, "Shortest path", "the way with the fewest instructions", &profile.ways.shortest);
    // Nobody knows the longest way through a loop.
    if let Some(longest) = &profile.ways.longest {
        cycles(&mut all, "Longest path", "the way with the most instructions", longest);
    }
    all
}

/// A core's cycles for one warp, pipe by pipe, at the model's rates; the largest is what bounds the shader.
fn cycles(all: &mut Vec<Statistic>, path: &str, what: &str, c: &shader::cost::Cost) {
    let [fma, cvt, sfu, issues, slots, textures] =
        [c.fma, c.cvt, c.sfu, c.ls, c.varying, c.tex].map(u64::from);
    let code = counters::once::Code { fma, cvt, sfu, issues, slots, textures };
    for (pipe, v) in code.cycles(&counters::model::current().core) {
        let text = format!("Cycles a warp takes of a core, {}: {what}", pipe.of);
        all.push((format!("{path} {} cycles", pipe.statistic), text, Number::Real(v)));
    }
}

pub(crate) fn get_pipeline_executable_statistics_khr(
    _: &Device,
    info: In<vk::PipelineExecutableInfoKHR>,
    out: List<vk::PipelineExecutableStatisticKHR>,
) -> vk::Result {
    let command = "vkGetPipelineExecutableStatisticsKHR";
    let e = match executable(info, command, Flags::CAPTURE_STATISTICS_KHR, |_| false) {
        Ok(e) => e,
        Err(e) => return e,
    };
    let all = statistics(&e.compiled.program);
    out.fill_with(all.len(), |mut o, i| {
        let (name, what, value) = &all[i];
        chain::write_str(&mut o.name, name);
        chain::write_str(&mut o.description, what);
        (o.format, o.value) = match *value {
            Number::Whole(v) => (Format::UINT64, vk::PipelineExecutableStatisticValueKHR { u64: v }),
            Number::Real(v) => (Format::FLOAT64, vk::PipelineExecutableStatisticValueKHR { f64: v }),
        };
    })
}

/// One line an op: its place, code and operands; and which of the application's blocks it comes from.
fn disassembly(p: &Program) -> String {
    let mut text = String::new();
    for (i, op) in p.code.iter().enumerate() {
        if let Some(b) = p.blocks.iter().find(|b| b.first_op as usize == i) {
            let _ = writeln!(text, "; {:?}", b.origin);
        }
        let _ = writeln!(text, "{i:6}  {op:?}");
    }
    text
}

/// The texts that an executable has: name, description, text.
fn representations(e: &Executable) -> Vec<(&'static str, &'static str, String)> {
    let what = "The bytecode that the wave engine runs";
    let mut all = vec![("Wave program", what, disassembly(&e.compiled.program))];
    if let Some(blocks) = &e.blocks {
        let what = "What each basicBlockIndex of VK_ARM_shader_instrumentation is: function, label, source line (JSON)";
        all.push(("Basic blocks", what, shader::instrument::json(blocks)));
    }
    all
}

pub(crate) fn get_pipeline_executable_internal_representations_khr(
    _: &Device,
    info: In<vk::PipelineExecutableInfoKHR>,
    out: List<vk::PipelineExecutableInternalRepresentationKHR>,
) -> vk::Result {
    let command = "vkGetPipelineExecutableInternalRepresentationsKHR";
    // The table of blocks is how an instrumented pipeline's metrics are read: it needs no flag of its own.
    let instrumented = |e: &Executable| e.blocks.is_some();
    let e = match executable(info, command, Flags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR, instrumented) {
        Ok(e) => e,
        Err(e) => return e,
    };
    let all = representations(e);
    let mut cut = false;
    let result = out.fill_with(all.len(), |mut o, i| {
        let (name, what, text) = &all[i];
        chain::write_str(&mut o.name, name);
        chain::write_str(&mut o.description, what);
        o.is_text = vk::TRUE;
        let mut text = text.clone().into_bytes();
        text.push(0);
        if o.p_data.is_null() {
            o.data_size = text.len();
            return;
        }
        let n = text.len().min(o.data_size);
        cut |= n < text.len();
        // SAFETY: the application gave `data_size` bytes.
        unsafe { OutSlice::new(o.p_data.cast(), o.data_size) }.copy(&text[..n]);
        o.data_size = n;
    });
    if cut && result == vk::Result::SUCCESS { vk::Result::INCOMPLETE } else { result }
}
