//! Microbenchmarks of the modelled GPU: each asks one thing of it, and what that counts follows from the model file by arithmetic.
//! What it must be is the tests' to say (`tests/micro.rs`); here is what is done, and what was counted.

pub mod draw;
pub mod fit;
pub mod order;
pub mod rates;
pub mod stages;
mod zoo;

use crate::check::text;
use crate::meter::Meter;
use ash::vk::Format;
use client::compute::KernelInfo;
use client::{Buffer, Context, Kernel};
use draw::Filter;
use order::{Between, Job};
use rates::{Interpolated, Layers};
use std::rc::Rc;

/// What the shader `alu` does, by the number that asks for it.
pub const ALU: [&str; 28] = [
    "fma",
    "add",
    "mul",
    "floor",
    "inversesqrt",
    "sqrt",
    "exp2",
    "log2",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "tanh",
    "exp",
    "log",
    "fract",
    "ceil",
    "trunc",
    "bitfieldReverse",
    "bitCount",
    "findMSB",
    "findLSB",
    "asinh",
    "acosh",
    "atanh",
];
/// Accesses of a shape, of the shader `memory`.
pub const SHAPES: [&str; 18] = [
    "words",
    "pairs",
    "fours",
    "one word",
    "every 2nd",
    "every 4th",
    "every 16th",
    "backwards",
    "words written",
    "pairs written",
    "fours written",
    "every 2nd written",
    "every 4th written",
    "every 16th written",
    "backwards written",
    "atomics on one",
    "atomics on words",
    "atomics on every 16th",
];
const TABLE: u32 = 18;
const STREAM: u32 = 19;

/// What a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// `ROUNDS` more rounds of an operation of [`ALU`], by so many workgroups of four warps.
    Alu {
        op: u32,
        groups: u32,
    },
    /// `ROUNDS` rounds of an access of [`SHAPES`], by two workgroups.
    Access {
        shape: u32,
    },
    /// One workgroup reads so many KiB from begin to end, three times.
    Table {
        kib: u32,
    },
    /// So many KiB are read, written, or both, a word by an invocation.
    Stream {
        way: Way,
        kib: u32,
    },
    /// So many KiB are filled, or copied.
    Fill {
        kib: u32,
    },
    Copy {
        kib: u32,
    },
    /// A draw samples an image of a format once a pixel.
    Sampled {
        format: Format,
        filter: Filter,
    },
    /// A pass clears an attachment of a format.
    Cleared {
        format: Format,
    },
    /// A pass draws triangles over all of its target; or as many more.
    Drawn(Layers),
    More(Layers),
    /// A draw through further stages.
    Staged {
        stages: stages::Staged,
    },
    /// How much less two jobs take together than each alone.
    Pair {
        first: Job,
        second: Job,
        between: Between,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Read,
    Write,
    Both,
}

pub const ROUNDS: u32 = 64;

/// A case: its name, what it does, and the counter that is asked for.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub work: Work,
    pub counter: &'static str,
}

pub const CYCLES: &str = "Compute queue active cycles";
pub const FROM_L2: &str = "Load/store unit read bytes from L2 cache";
pub const FILTERED: &str = "Texture filtering cycles";
pub const READ: &str = "Output external read bytes";
pub const WRITTEN: &str = "Output external write bytes";
pub const ACTIVE: &str = "GPU active cycles";
pub const DRAWING: &str = "Main phase active cycles";
pub const BINNING: &str = "Binning phase queue active cycles";
pub const QUADS: &str = "Rasterized fine quads";
pub const PRIMITIVES: &str = "Rasterized primitives";
pub const ENTRIES: &str = "Primitive references in tile lists";

/// The counter that a shape's accesses are.
pub fn issues(shape: u32) -> &'static str {
    match shape {
        0..=2 | 7 => "Load/store unit full read issues",
        3..=6 => "Load/store unit partial read issues",
        8..=10 | 14 => "Load/store unit full write issues",
        11..=13 => "Load/store unit partial write issues",
        _ => "Load/store unit atomic issues",
    }
}

/// All cases on a GPU of so many cores, and caches of so many KiB.
pub fn cases(cores: u32, l1_kib: u32, l2_kib: u32) -> Vec<Case> {
    let case = |name: String, work, counter| Case { name, work, counter };
    let mut all = vec![];
    for (op, name) in (0..).zip(ALU) {
        for (groups, on) in [(16 * cores, "all cores full"), (1, "one workgroup")] {
            all.push(case(format!("{name}, {on}"), Work::Alu { op, groups }, CYCLES));
        }
    }
    for each in [1, 2, 3, 4, 8, 32] {
        let work = Work::Alu { op: 0, groups: each * cores };
        all.push(case(format!("fma, {each} workgroups a core"), work, CYCLES));
    }
    for (groups, name) in [(cores + 1, "one more than cores"), (2 * cores + 1, "one more than two a core")] {
        all.push(case(format!("fma, workgroups: {name}"), Work::Alu { op: 0, groups }, CYCLES));
    }
    for (shape, name) in (0..).zip(SHAPES) {
        all.push(case(name.into(), Work::Access { shape }, issues(shape)));
    }
    for (kib, size) in [(l1_kib / 2, "half of the L1"), (l1_kib, "the L1"), (2 * l1_kib, "twice the L1")] {
        all.push(case(format!("a table of {size}"), Work::Table { kib }, FROM_L2));
    }
    for (kib, size) in [(l2_kib / 2, "half of the L2"), (l2_kib, "the L2"), (2 * l2_kib, "twice the L2")] {
        all.push(case(format!("a table of {size}"), Work::Table { kib }, READ));
    }
    for kib in [64, 1024, 4096] {
        for (way, what, counter) in [
            (Way::Read, "read", READ),
            (Way::Write, "written", WRITTEN),
            (Way::Both, "copied by a shader", READ),
            (Way::Both, "copied by a shader", WRITTEN),
        ] {
            let work = Work::Stream { way, kib };
            all.push(case(format!("{kib} KiB {what}: {counter}"), work, counter));
        }
        for counter in [WRITTEN, CYCLES] {
            all.push(case(format!("{kib} KiB filled: {counter}"), Work::Fill { kib }, counter));
        }
        for counter in [READ, WRITTEN, CYCLES] {
            all.push(case(format!("{kib} KiB copied: {counter}"), Work::Copy { kib }, counter));
        }
    }
    let flat = [Filter::Nearest, Filter::Bilinear, Filter::Trilinear];
    let of = |formats: &'static [Format], filter| formats.iter().map(move |f| (*f, filter));
    let sampled =
        flat.into_iter().flat_map(|f| of(&draw::TEXTURES, f)).chain(of(&draw::VOLUMES, Filter::Volume));
    let stretched = draw::STRETCHED.into_iter().map(|n| (Format::R8G8B8A8_UNORM, Filter::Aniso(n)));
    for (format, filter) in sampled.chain(stretched) {
        all.push(case(format!("{format:?}, {filter:?}"), Work::Sampled { format, filter }, FILTERED));
    }
    for format in draw::TARGETS {
        all.push(case(format!("{format:?} cleared"), Work::Cleared { format }, WRITTEN));
    }
    let layers = |format, samples, blend, count| Layers {
        format,
        samples,
        blend,
        count,
        interpolated: Interpolated::Nothing,
    };
    for format in rates::FILLED {
        all.push(case(format!("{format:?} filled"), Work::Drawn(layers(format, 1, false, 1)), DRAWING));
    }
    for (format, samples) in rates::BLENDED {
        let name = format!("8 layers blended into {format:?}, samples {samples}");
        all.push(case(name, Work::More(layers(format, samples, true, 8)), DRAWING));
    }
    for (name, interpolated) in [("", Interpolated::Full), (" of half precision", Interpolated::Half)] {
        let layers = Layers { interpolated, ..layers(Format::R8_UNORM, 1, true, 8) };
        all.push(case(format!("8 layers with eight components{name}"), Work::More(layers), DRAWING));
    }
    let many = layers(Format::R8G8B8A8_UNORM, 1, false, 1024);
    all.push(case("1024 triangles over 16 regions".into(), Work::More(many), BINNING));
    for counter in [QUADS, PRIMITIVES, ENTRIES] {
        let one = layers(Format::R8G8B8A8_UNORM, 1, false, 1);
        all.push(case(format!("a triangle over 16 regions: {counter}"), Work::Drawn(one), counter));
    }
    for (stages, name, counter) in stages::STAGED {
        all.push(case(format!("{name}: {counter}"), Work::Staged { stages }, counter));
    }
    for (first, second, between) in order::pairs(cores) {
        let (a, b) = (order::called(first), order::called(second));
        let name = format!("{b} beside {a}, between them {}", order::between(between));
        all.push(case(name, Work::Pair { first, second, between }, ACTIVE));
    }
    all
}

struct Rig {
    context: Rc<Context>,
    meter: Meter,
    alu: Kernel,
    memory: Kernel,
    /// As much as the largest case reads, and writes.
    buffers: [Buffer; 2],
}

impl Rig {
    fn new(bytes: usize) -> Result<Rig, String> {
        let context = Context::staged().map_err(text)?;
        let meter = Meter::new()?;
        let kernel = |spirv: &[u8], bindings, push_size| {
            Kernel::new(&context, &KernelInfo { spirv, bindings, push_size }).map_err(text)
        };
        let alu = kernel(include_bytes!("../../shaders/micro/alu.comp.spv"), 1, 8)?;
        let memory = kernel(include_bytes!("../../shaders/micro/memory.comp.spv"), 2, 12)?;
        let [a, b] = [(); 2].map(|_| Buffer::new(&context, bytes));
        let buffers = [a.map_err(text)?, b.map_err(text)?];
        Ok(Rig { context, meter, alu, memory, buffers })
    }

    /// A counter of what `work` does, with nothing in the L2.
    fn counted(&self, counter: &str, work: impl FnOnce() -> client::Result<()>) -> Result<f64, String> {
        // Twice of what the L2 holds: nothing of before is there.
        let [_, b] = &self.buffers;
        // SAFETY: recording into a command buffer that has begun, with live handles.
        let empty =
            self.context.run(|d, c| unsafe { d.cmd_fill_buffer(c, b.handle, 0, ash::vk::WHOLE_SIZE, 5) });
        empty.map_err(text)?;
        Ok(self.meter.counted([counter], work)?[0])
    }

    fn memory(&self, counter: &str, push: [u32; 3], groups: u32) -> Result<f64, String> {
        let push: Vec<u8> = push.iter().flat_map(|w| w.to_le_bytes()).collect();
        let [a, b] = &self.buffers;
        self.counted(counter, || self.memory.run(&[a, b], &push, [groups, 1, 1]))
    }

    /// Records the copy of so many KiB.
    fn copy(&self, d: &ash::Device, commands: ash::vk::CommandBuffer, kib: u32) {
        let [a, b] = &self.buffers;
        let region = [ash::vk::BufferCopy { size: kib as u64 * 1024, ..Default::default() }];
        // SAFETY: recording into a command buffer that has begun, with live handles, within the buffers.
        unsafe { d.cmd_copy_buffer(commands, a.handle, b.handle, &region) };
    }

    fn measure(&self, case: &Case) -> Result<f64, String> {
        let c = case.counter;
        let [a, b] = &self.buffers;
        match case.work {
            Work::Alu { op, groups } => {
                let rounds = |n: u32| {
                    let push = [op.to_le_bytes(), n.to_le_bytes()].concat();
                    self.counted(c, || self.alu.run(&[a], &push, [groups, 1, 1]))
                };
                Ok(rounds(2 * ROUNDS)? - rounds(ROUNDS)?)
            }
            Work::Access { shape } => self.memory(c, [shape, ROUNDS, 0], 2),
            Work::Table { kib } => {
                let rounds = kib * 1024 / 256;
                self.memory(c, [TABLE, 3 * rounds, rounds], 1)
            }
            Work::Stream { way, kib } => self.memory(c, [STREAM + way as u32, 0, 0], kib * 1024 / 256),
            Work::Sampled { format, filter } => self.sampled(c, format, filter, draw::SIDE),
            Work::Cleared { format } => self.cleared(c, format),
            Work::Drawn(layers) => self.layers(c, layers),
            Work::More(layers) => {
                let twice = Layers { count: 2 * layers.count, ..layers };
                Ok(self.layers(c, twice)? - self.layers(c, layers)?)
            }
            Work::Staged { stages } => self.staged(c, stages),
            Work::Pair { first, second, between } => self.overlap(c, first, second, between),
            // SAFETY: recording into a command buffer that has begun, with live handles, within the buffers.
            Work::Fill { kib } => self.counted(c, || {
                self.context.run(|d, commands| unsafe {
                    d.cmd_fill_buffer(commands, b.handle, 0, kib as u64 * 1024, 7);
                })
            }),
            Work::Copy { kib } => {
                self.counted(c, || self.context.run(|d, commands| self.copy(d, commands, kib)))
            }
        }
    }
}

/// Prints what each case counts, a line each: `number;value`; and the counters of which none had anything to count, in all of them and
/// a scene besides: `silent name`.
pub fn run(cores: u32, l1_kib: u32, l2_kib: u32) -> Result<(), String> {
    let cases = cases(cores, l1_kib, l2_kib);
    let rig = Rig::new((2 * l2_kib).max(4096) as usize * 1024)?;
    for (i, case) in cases.iter().enumerate() {
        println!("{i};{}", rig.measure(case)?);
    }
    rig.zoo()?;
    for name in rig.silent()? {
        println!("silent {name}");
    }
    Ok(())
}
