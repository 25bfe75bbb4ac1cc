//! The scenes. The draw with the fault has the label `faulty`, or the images their names.

use crate::stage::{Draw, SIDE, Stage, Vertex, wait};
use ash::vk;
use client::Result;
use client::graphics::{Attachment, Image, ImageInfo, Load, PipelineInfo, Sampler, over};

type Scene = fn(&Stage, bool) -> Result<()>;

/// By name: that of the rule which finds the fault.
pub const ALL: [(&str, Scene); 20] = [
    ("overdraw", overdraw),
    ("load", load),
    ("store", store),
    ("transient", transient),
    ("unused-vertices", unused_vertices),
    ("unused-attributes", unused_attributes),
    ("index-order", index_order),
    ("duplicate-vertices", duplicates),
    ("culled-triangles", culled),
    ("tiny-triangles", tiny),
    ("registers", registers),
    ("precision", precision),
    ("varyings", varyings),
    ("texture-format", texture_format),
    ("mipmaps", mipmaps),
    ("bandwidth", bandwidth),
    ("bubbles", bubbles),
    ("late-depth", late_depth),
    ("discard", discard),
    ("barriers", barriers),
];

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/advise/", $name, ".spv")).as_slice()
    };
}

const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

fn clear() -> Load {
    Load::colour(BLACK)
}

/// Drawn to `target`, which is cleared and stored, beside a small draw that nothing is wrong with.
fn picture(s: &Stage, target: &Image, faulty: &[Draw]) -> Result<()> {
    let corner = s.corner()?;
    let mut info = Stage::of_mesh(Stage::info(shader!("mesh.vert"), shader!("flat.frag")), corner.stride);
    info.colours = vec![target.info.format];
    let plain = s.pipeline(&info, None)?;
    let other = Draw { label: "other", pipeline: &plain, bindings: None, push: 0.0, mesh: Some(&corner) };
    s.context.run(|device, commands| {
        let colour = Attachment::new(target, clear());
        let faulty = faulty.iter().map(|d| Draw { label: d.label, ..*d });
        let draws: Vec<Draw> = std::iter::once(other).chain(faulty).collect();
        s.pass(device, commands, colour, None, &draws);
    })?;
    s.show(target)
}

/// Layers over the whole target: back to front and blended, though nothing is transparent; or front to back, tested.
fn overdraw(s: &Stage, cured: bool) -> Result<()> {
    layers(s, shader!("work.frag"), shader!("work.frag"), cured, 6)
}

/// The same, of shaders that may discard; or not.
fn discard(s: &Stage, cured: bool) -> Result<()> {
    let fragment = if cured { shader!("work.frag") } else { shader!("discard.frag") };
    let (target, depth) = (s.target("picture")?, s.depth("depth")?);
    let mut info = Stage::info(shader!("layer.vert"), fragment);
    info.depth_format = vk::Format::D32_SFLOAT;
    info.depth = Some((vk::CompareOp::LESS_OR_EQUAL, true));
    let pipeline = s.pipeline(&info, None)?;
    draw_layers(s, &target, &depth, &pipeline, &[0.9, 0.7, 0.5, 0.3])
}

fn layers(s: &Stage, fault: &[u8], cure: &[u8], cured: bool, count: u32) -> Result<()> {
    let (target, depth) = (s.target("picture")?, s.depth("depth")?);
    let mut info = Stage::info(shader!("layer.vert"), if cured { cure } else { fault });
    info.depth_format = vk::Format::D32_SFLOAT;
    info.depth = Some((vk::CompareOp::LESS_OR_EQUAL, true));
    if !cured {
        info.blend = over();
    }
    let pipeline = s.pipeline(&info, None)?;
    let far = |i: u32| 0.9 - 0.1 * i as f32;
    let mut places: Vec<f32> = (0..count).map(far).collect();
    if cured {
        places.reverse();
    }
    draw_layers(s, &target, &depth, &pipeline, &places)
}

fn draw_layers(
    s: &Stage,
    target: &Image,
    depth: &Image,
    pipeline: &client::graphics::Pipeline,
    places: &[f32],
) -> Result<()> {
    let draws: Vec<Draw> = places
        .iter()
        .map(|place| Draw { label: "faulty", pipeline, bindings: None, push: *place, mesh: None })
        .collect();
    s.context.run(|device, commands| {
        let depth = Attachment { store: false, ..Attachment::new(depth, Load::depth(1.0, 0)) };
        s.pass(device, commands, Attachment::new(target, clear()), Some(depth), &draws);
    })?;
    s.show(target)
}

/// An occluder, then what it hides, whose shader writes the depth that it has anyway; or not.
fn late_depth(s: &Stage, cured: bool) -> Result<()> {
    let (target, depth) = (s.target("picture")?, s.depth("depth")?);
    let fragment = if cured { shader!("work.frag") } else { shader!("depth.frag") };
    let info = |fragment| {
        let mut info = Stage::info(shader!("layer.vert"), fragment);
        info.depth_format = vk::Format::D32_SFLOAT;
        info.depth = Some((vk::CompareOp::GREATER_OR_EQUAL, true));
        info
    };
    let first = s.pipeline(&info(shader!("flat.frag")), None)?;
    let faulty = s.pipeline(&info(fragment), None)?;
    let draw = |label, pipeline, push| Draw { label, pipeline, bindings: None, push, mesh: None };
    s.context.run(|device, commands| {
        let depth = Attachment { store: false, ..Attachment::new(&depth, Load::depth(0.0, 0)) };
        let colour = Attachment::new(&target, clear());
        let draws = [draw("other", &first, 0.9), draw("faulty", &faulty, 0.5), draw("faulty", &faulty, 0.4)];
        s.pass(device, commands, colour, Some(depth), &draws);
    })?;
    s.show(&target)
}

/// A picture is drawn over whole, and loaded before; or not.
fn load(s: &Stage, cured: bool) -> Result<()> {
    let target = s.image("reused", ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]).stored())?;
    let pipeline = s.pipeline(&Stage::info(shader!("layer.vert"), shader!("flat.frag")), None)?;
    let draw = |push| [Draw { label: "faulty", pipeline: &pipeline, bindings: None, push, mesh: None }];
    s.context.run(|device, commands| {
        s.pass(device, commands, Attachment::new(&target, clear()), None, &draw(0.5));
        wait(
            device,
            commands,
            vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
            vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
        );
        let again = if cured { Load::DontCare } else { Load::Load };
        s.pass(device, commands, Attachment::new(&target, again), None, &draw(0.25));
    })?;
    s.show(&target)
}

/// Depth is stored, though nothing reads it; or not.
fn store(s: &Stage, cured: bool) -> Result<()> {
    let (target, depth) = (s.target("picture")?, s.depth("unread depth")?);
    let mut info = Stage::info(shader!("layer.vert"), shader!("flat.frag"));
    info.depth_format = vk::Format::D32_SFLOAT;
    info.depth = Some((vk::CompareOp::LESS, true));
    let pipeline = s.pipeline(&info, None)?;
    let draw = [Draw { label: "all", pipeline: &pipeline, bindings: None, push: 0.5, mesh: None }];
    s.context.run(|device, commands| {
        let depth = Attachment { store: !cured, ..Attachment::new(&depth, Load::depth(1.0, 0)) };
        s.pass(device, commands, Attachment::new(&target, clear()), Some(depth), &draw);
    })?;
    s.show(&target)
}

/// Depth that never leaves the tiles has memory; or none.
fn transient(s: &Stage, cured: bool) -> Result<()> {
    let target = s.target("picture")?;
    let info = ImageInfo::depth(vk::Format::D32_SFLOAT, [SIDE; 2]);
    let depth = s.image("kept depth", if cured { info.transient() } else { info })?;
    let mut info = Stage::info(shader!("layer.vert"), shader!("flat.frag"));
    info.depth_format = vk::Format::D32_SFLOAT;
    info.depth = Some((vk::CompareOp::LESS, true));
    let pipeline = s.pipeline(&info, None)?;
    let draw = [Draw { label: "all", pipeline: &pipeline, bindings: None, push: 0.5, mesh: None }];
    s.context.run(|device, commands| {
        let depth = Attachment { store: false, ..Attachment::new(&depth, Load::depth(1.0, 0)) };
        s.pass(device, commands, Attachment::new(&target, clear()), Some(depth), &draw);
    })?;
    s.show(&target)
}

/// Triangle `i` of so many, a few pixels each, on a grid over the target.
fn scattered(count: u32) -> Vec<Vertex> {
    let across = (count as f32).sqrt().ceil() as u32;
    let cell = 2.0 / across as f32;
    let corner = |i: u32, [dx, dy]: [f32; 2]| {
        let [x, y] = [i % across, i / across].map(|n| n as f32 * cell - 1.0);
        [x + dx * cell, y + dy * cell, 0.5, dx, dy]
    };
    (0..count).flat_map(|i| [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|d| corner(i, d))).collect()
}

/// Triangles of a mesh, drawn with a pipeline of that mesh's stride.
fn mesh(
    s: &Stage,
    vertices: &[Vertex],
    stride: u32,
    indices: &[u32],
    program: &[u8],
    push: f32,
) -> Result<()> {
    let target = s.target("picture")?;
    let mesh = s.mesh(vertices, stride, indices)?;
    let pipeline = s.pipeline(&Stage::of_mesh(Stage::info(program, shader!("flat.frag")), stride), None)?;
    let faulty = Draw { label: "faulty", pipeline: &pipeline, bindings: None, push, mesh: Some(&mesh) };
    picture(s, &target, &[faulty])
}

/// Indices leave out three of four vertices; or none.
fn unused_vertices(s: &Stage, cured: bool) -> Result<()> {
    let used = scattered(8_000);
    let step = if cured { 1 } else { 4 };
    let all: Vec<Vertex> = used.iter().flat_map(|v| std::iter::repeat_n(*v, step)).collect();
    let indices: Vec<u32> = (0..used.len()).map(|i| (i * step) as u32).collect();
    mesh(s, &all, 20, &indices, shader!("mesh.vert"), 0.0)
}

/// Vertices have bytes between those that the shader reads; or none.
fn unused_attributes(s: &Stage, cured: bool) -> Result<()> {
    let all = scattered(8_000);
    let indices: Vec<u32> = (0..all.len() as u32).collect();
    mesh(s, &all, if cured { 20 } else { 80 }, &indices, shader!("mesh.vert"), 0.0)
}

/// A grid of so many cells a side.
fn grid(side: u32) -> (Vec<Vertex>, Vec<[u32; 6]>) {
    let at = |n: u32| n as f32 / side as f32;
    let vertices = (0..=side).flat_map(|y| (0..=side).map(move |x| (x, y)));
    let vertices = vertices.map(|(x, y)| [at(x) * 2.0 - 1.0, at(y) * 2.0 - 1.0, 0.5, at(x), at(y)]).collect();
    let cell = |n: u32| {
        let a = n / side * (side + 1) + n % side;
        let below = a + side + 1;
        [a, a + 1, below, below, a + 1, below + 1]
    };
    (vertices, (0..side * side).map(cell).collect())
}

/// Triangles of a grid in random order; or row by row.
fn index_order(s: &Stage, cured: bool) -> Result<()> {
    let (vertices, cells) = grid(96);
    let mut triangles: Vec<&[u32]> = cells.iter().flat_map(|c| c.chunks(3)).collect();
    let mut seed = 7u32;
    if !cured {
        for i in (1..triangles.len()).rev() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            triangles.swap(i, (seed >> 8) as usize % (i + 1));
        }
    }
    mesh(s, &vertices, 20, &triangles.concat(), shader!("bent.vert"), 0.0)
}

/// Each triangle of a grid has vertices of its own; or shares them.
fn duplicates(s: &Stage, cured: bool) -> Result<()> {
    let (vertices, cells) = grid(96);
    let indices = cells.concat();
    if cured {
        return mesh(s, &vertices, 20, &indices, shader!("bent.vert"), 0.0);
    }
    let own: Vec<Vertex> = indices.iter().map(|i| vertices[*i as usize]).collect();
    let all: Vec<u32> = (0..own.len() as u32).collect();
    mesh(s, &own, 20, &all, shader!("bent.vert"), 0.0)
}

/// Nine tenths of a mesh lie outside the picture; or are not drawn.
fn culled(s: &Stage, cured: bool) -> Result<()> {
    let (vertices, cells) = grid(96);
    let seen = |c: &&[u32; 6]| !cured || vertices[c[0] as usize][0] < -0.75;
    let indices: Vec<u32> = cells.iter().filter(seen).flatten().copied().collect();
    mesh(s, &vertices, 20, &indices, shader!("bent.vert"), 1.8)
}

/// Triangles of a pixel or two; or of some hundred.
fn tiny(s: &Stage, cured: bool) -> Result<()> {
    let (vertices, cells) = grid(if cured { 96 } else { 320 });
    mesh(s, &vertices, 20, &cells.concat(), shader!("mesh.vert"), 0.0)
}

/// A draw over the whole target.
fn whole(
    s: &Stage,
    target: &Image,
    info: &PipelineInfo,
    textures: &[&Image],
    sampler: &Sampler,
) -> Result<()> {
    let bindings = match textures {
        [] => None,
        some => Some(s.bindings(some, sampler)?),
    };
    let pipeline = s.pipeline(info, bindings.as_ref())?;
    let bindings = bindings.as_ref();
    picture(s, target, &[Draw { label: "faulty", pipeline: &pipeline, bindings, push: 0.5, mesh: None }])
}

/// What is sampled is kept until the end; or used at once.
fn registers(s: &Stage, cured: bool) -> Result<()> {
    let target = s.target("picture")?;
    let texture = s.texture("noise", vk::Format::R8G8B8A8_UNORM, 256, 1)?;
    let fragment = if cured { shader!("registers.few") } else { shader!("registers.frag") };
    let sampler = Sampler::new(&s.context, &vk::SamplerCreateInfo::default())?;
    whole(s, &target, &Stage::info(shader!("layer.vert"), fragment), &[&texture], &sampler)
}

/// Colours are computed with 32 bits; or with 16.
fn precision(s: &Stage, cured: bool) -> Result<()> {
    let target = s.target("picture")?;
    let fragment = if cured { shader!("work16.frag") } else { shader!("work.frag") };
    let sampler = Sampler::linear(&s.context)?;
    whole(s, &target, &Stage::info(shader!("layer.vert"), fragment), &[], &sampler)
}

/// Thirty-two varyings of 32 bits; or of 16.
fn varyings(s: &Stage, cured: bool) -> Result<()> {
    let target = s.target("picture")?;
    let info = match cured {
        false => Stage::info(shader!("wide.vert"), shader!("wide.frag")),
        true => Stage::info(shader!("wide.half.vert"), shader!("wide.half.frag")),
    };
    let sampler = Sampler::linear(&s.context)?;
    whole(s, &target, &info, &[], &sampler)
}

/// Four textures of four bytes a texel; or compressed.
fn texture_format(s: &Stage, cured: bool) -> Result<()> {
    let target = s.target("picture")?;
    let format = if cured { vk::Format::ASTC_4X4_UNORM_BLOCK } else { vk::Format::R8G8B8A8_UNORM };
    let names = ["albedo", "normal", "mask", "light"];
    let textures: Vec<Image> = names.iter().map(|n| s.texture(n, format, SIDE, 1)).collect::<Result<_>>()?;
    let sampler = Sampler::linear(&s.context)?;
    let all: Vec<&Image> = textures.iter().collect();
    whole(s, &target, &Stage::info(shader!("layer.vert"), shader!("textured.frag")), &all, &sampler)
}

/// A texture of sixteen times the picture's pixels without mipmaps; or with.
fn mipmaps(s: &Stage, cured: bool) -> Result<()> {
    let target = s.target("picture")?;
    let side = 4 * SIDE;
    let texture =
        s.texture("large", vk::Format::R8G8B8A8_UNORM, side, if cured { side.ilog2() + 1 } else { 1 })?;
    let sampler = Sampler::linear(&s.context)?;
    whole(s, &target, &Stage::info(shader!("layer.vert"), shader!("shrunk.frag")), &[&texture], &sampler)
}

/// A picture of eight bytes a pixel, which the next pass reads; or of four.
fn bandwidth(s: &Stage, cured: bool) -> Result<()> {
    let format = if cured { vk::Format::B10G11R11_UFLOAT_PACK32 } else { vk::Format::R16G16B16A16_SFLOAT };
    let between = s.image("lit scene", ImageInfo::colour(format, [SIDE; 2]))?;
    let target = s.target("picture")?;
    let mut info = Stage::info(shader!("layer.vert"), shader!("noise.frag"));
    info.colours = vec![format];
    let first = s.pipeline(&info, None)?;
    let sampler = Sampler::linear(&s.context)?;
    let bindings = s.bindings(&[&between], &sampler)?;
    let second = s.pipeline(&Stage::info(shader!("layer.vert"), shader!("once.frag")), Some(&bindings))?;
    s.context.run(|device, commands| {
        let draw = Draw { label: "scene", pipeline: &first, bindings: None, push: 0.5, mesh: None };
        s.pass(device, commands, Attachment::new(&between, Load::DontCare), None, &[draw]);
        wait(
            device,
            commands,
            vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
            vk::PipelineStageFlags::FRAGMENT_SHADER,
        );
        let draw =
            Draw { label: "tone map", pipeline: &second, bindings: Some(&bindings), push: 0.5, mesh: None };
        s.pass(device, commands, Attachment::new(&target, Load::DontCare), None, &[draw]);
    })?;
    s.show(&target)
}

/// How the passes of a chain are submitted.
enum Submitted {
    Together,
    /// One after the other, each when the one before it has ended.
    Waiting,
    /// One after the other, without waiting between them.
    Queued,
}

/// Passes of many vertices and some fragments, which a chain of pictures connects; after each one a barrier of these stages.
fn chain(s: &Stage, way: Submitted, from: vk::PipelineStageFlags, to: vk::PipelineStageFlags) -> Result<()> {
    const PASSES: usize = 4;
    let targets: Vec<Image> =
        (0..=PASSES).map(|i| s.target(&format!("picture {i}"))).collect::<Result<_>>()?;
    let (vertices, cells) = grid(96);
    let grid = s.mesh(&vertices, 20, &cells.concat())?;
    let info = Stage::of_mesh(Stage::info(shader!("bent.vert"), shader!("once.frag")), grid.stride);
    let sampler = Sampler::linear(&s.context)?;
    let sets: Vec<_> = targets.iter().map(|t| s.bindings(&[t], &sampler)).collect::<Result<Vec<_>>>()?;
    let pipeline = s.pipeline(&info, Some(&sets[0]))?;
    let step = |device: &ash::Device, commands, i: usize| {
        let draw = Draw {
            label: "grid",
            pipeline: &pipeline,
            bindings: Some(&sets[i]),
            push: 0.0,
            mesh: Some(&grid),
        };
        s.pass(device, commands, Attachment::new(&targets[i + 1], clear()), None, &[draw]);
        wait(device, commands, from, to);
    };
    match way {
        Submitted::Together => {
            s.context.run(|device, commands| (0..PASSES).for_each(|i| step(device, commands, i)))?;
        }
        Submitted::Waiting => {
            (0..PASSES).try_for_each(|i| s.context.run(|device, commands| step(device, commands, i)))?;
        }
        Submitted::Queued => {
            let all = (0..PASSES).map(|i| s.context.record(|device, commands| step(device, commands, i)));
            s.queued(&all.collect::<Result<Vec<_>>>()?)?;
        }
    }
    s.show(&targets[PASSES])
}

/// The program waits for each pass before it submits the next; or only for the last.
fn bubbles(s: &Stage, cured: bool) -> Result<()> {
    let way = if cured { Submitted::Queued } else { Submitted::Waiting };
    chain(s, way, vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::PipelineStageFlags::FRAGMENT_SHADER)
}

/// Each pass waits for all of the one before it; or only its fragments do.
fn barriers(s: &Stage, cured: bool) -> Result<()> {
    use vk::PipelineStageFlags as Stages;
    match cured {
        false => chain(s, Submitted::Together, Stages::ALL_COMMANDS, Stages::ALL_COMMANDS),
        true => chain(s, Submitted::Together, Stages::COLOR_ATTACHMENT_OUTPUT, Stages::FRAGMENT_SHADER),
    }
}
