//! What the stages around a program read of it.

use super::wrong;
use crate::bytecode::Program;
use crate::ir::{Input, Stage};
use crate::options::Result;
use crate::stage_io::{Cell, FEEDBACK_BUFFERS, MAX_PATCH_VERTICES};

/// Words of a primitive's, patch's or vertex's memory, and vertices or primitives of a mesh or payload bytes, as the translation bounds them.
const MOST_WORDS: u32 = 1 << 16;
const MOST_MESH: u32 = 1024;
const MOST_PAYLOAD: u32 = 1 << 16;
/// Invocations and vertices of a geometry shader: more than any limit that is reported.
const MOST_GEOMETRY: u32 = 1 << 12;
/// Bytes of a captured vertex.
const MOST_STRIDE: u32 = 1 << 16;

pub fn check(p: &Program) -> Result<()> {
    let when = |bad: bool, what: &str| if bad { Err(wrong(what)) } else { Ok(()) };
    when(!p.inputs.iter().all(|i| has_component(i.0)), "component of an input")?;
    let io = &p.interface.io;
    let geometry = p.stage == Stage::Geometry;
    let tessellates = matches!(p.stage, Stage::TessControl | Stage::TessEval);
    when(io.geometry.is_some() && !geometry, "a geometry shader of another stage")?;
    when(io.tessellation.is_some() && !tessellates, "a tessellation shader of another stage")?;
    when(
        io.mesh.is_some() && !matches!(p.stage, Stage::Mesh | Stage::Task),
        "a mesh shader of another stage",
    )?;
    let cell = |c: &Cell| {
        let bits = matches!(c.bits, 8 | 16 | 32);
        bits && c.count <= MAX_PATCH_VERTICES.max(MOST_MESH) && c.end() <= MOST_WORDS
    };
    when(!io.inputs.iter().all(cell), "an input's cell")?;
    if let Some(g) = &io.geometry {
        let sizes = [g.vertices, g.invocations, g.max_vertices].iter().all(|n| *n <= MOST_GEOMETRY);
        let words = g.max_vertices as u64 * g.entry() as u64 + g.ring as u64;
        let streams = g.outputs.iter().all(|o| (o.stream as usize) < FEEDBACK_BUFFERS);
        when(!sizes || !streams || words > p.scratch_words as u64, "what a geometry shader emits")?;
    }
    if let Some(t) = &io.tessellation {
        let sizes = t.vertices <= MAX_PATCH_VERTICES && t.words <= MOST_WORDS;
        when(!sizes || !t.outputs.iter().all(cell), "a patch's memory")?;
    }
    if let Some(m) = &io.mesh {
        let sizes = m.max_vertices <= MOST_MESH && m.max_primitives <= MOST_MESH && m.payload <= MOST_PAYLOAD;
        let cells = m.vertices.iter().chain(&m.primitives).all(cell);
        when(!sizes || !cells, "a mesh's memory")?;
    }
    if let Some(r) = &io.ray {
        let within = |[first, n]: [u32; 2]| first.checked_add(n).is_some_and(|end| end <= r.words);
        let sizes = r.words <= p.scratch_words && within(r.incoming) && within(r.attribute);
        when(!sizes || !p.stage.is_ray_tracing(), "what a ray tracing shader shares")?;
    }
    let feedback = &io.feedback;
    let captures = feedback.captures.iter().all(|c| {
        (c.buffer as usize) < FEEDBACK_BUFFERS
            && (c.stream as usize) < FEEDBACK_BUFFERS
            && matches!(c.bytes, 1 | 2 | 4)
            && c.offset
                .checked_add(c.bytes as u32)
                .is_some_and(|end| end <= feedback.strides[c.buffer as usize])
    });
    let strides = feedback.strides.iter().all(|s| *s <= MOST_STRIDE);
    let streams = feedback.streams.iter().all(|s| (*s as usize) < FEEDBACK_BUFFERS);
    when(!captures || !strides || !streams, "what transform feedback captures")
}

/// Whether an input that is a vector has that component.
fn has_component(input: Input) -> bool {
    match input {
        Input::LocalId(c)
        | Input::WorkgroupId(c)
        | Input::NumWorkgroups(c)
        | Input::TessCoord(c)
        | Input::InvW(c) => c < 3,
        Input::FragCoord(c) => c < 4,
        Input::PointCoord(c) | Input::SamplePosition(c) | Input::CentroidOffset(c) => c < 2,
        Input::Ray(c) => c < crate::ir::ray_input::COUNT,
        // Two of each of 16 samples.
        Input::SampleOffset(c) => c < 32,
        _ => true,
    }
}
