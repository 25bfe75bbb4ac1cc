//! The first frame of a pipeline that nobody has seen: fragment shaders of growing size with new constants, and further stages.

use super::{FORMAT, Triangles, meshes, spirv};
use crate::graphics::{Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use crate::measure::{Moment, Span};
use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

/// A pipeline whose first frame is timed.
pub struct First {
    pub name: &'static str,
    fragment: &'static [u8],
    /// Stages before the rasteriser, if there are others than a vertex shader.
    stages: Option<Triangles>,
}

const fn layers(name: &'static str, fragment: &'static [u8]) -> First {
    First { name, fragment, stages: None }
}
const fn staged(name: &'static str, stages: Triangles) -> First {
    First { name, fragment: spirv!("flat.frag"), stages: Some(stages) }
}

/// Fragment shaders, smallest first, then the pictures' stages under the smallest.
pub const FIRST_FRAMES: [First; 7] = [
    layers("flat", spirv!("flat.frag")),
    layers("small", spirv!("small.frag")),
    layers("medium", spirv!("medium.frag")),
    layers("large", spirv!("large.frag")),
    staged("geom", Triangles::Geometry),
    staged("tess", Triangles::Tessellated),
    staged("mesh", Triangles::Mesh),
];

/// One tile.
const SIDE: u32 = 64;

/// Time of pipeline creation, recording and the first draw, over one tile. `seed` changes every float constant a
/// little. Whatever the driver sets up once is done before, with another pipeline.
pub fn first_frame(context: &Rc<Context>, name: &str, seed: u64) -> Result<Span> {
    let first = FIRST_FRAMES.iter().find(|f| f.name == name);
    let first = first.ok_or_else(|| Error(format!("no first frame is called {name}")))?;
    let target = Image::new(context, ImageInfo::colour(FORMAT, [SIDE, SIDE]))?;
    let input = match first.stages {
        Some(stages) => Some(Input::new(context, stages)?),
        None => None,
    };
    frame(context, &target, None, None)?;
    frame(context, &target, Some(&FIRST_FRAMES[0].code(!seed)), None)?;
    let code = first.code(seed);
    let start = Moment::now();
    frame(context, &target, Some(&code), input.as_ref())?;
    let span = start.elapsed();
    let pixels = target.read(vk::ImageAspectFlags::COLOR, 4)?;
    if pixels.chunks_exact(4).all(|p| p == CLEAR_TEXEL) {
        return Err(Error("nothing was drawn".into()));
    }
    Ok(span)
}

const CLEAR_TEXEL: [u8; 4] = [255, 0, 255, 0];

/// A pipeline's modules, with their constants changed.
struct Code {
    vertex: &'static [u8],
    stages: Vec<(vk::ShaderStageFlags, Vec<u8>)>,
    fragment: Vec<u8>,
}

impl First {
    fn code(&self, seed: u64) -> Code {
        let stages = self.stages.map_or(&[][..], Triangles::stages);
        Code {
            vertex: if self.stages.is_some() { spirv!("tri.vert") } else { spirv!("quad.vert") },
            stages: stages.iter().map(|(stage, code)| (*stage, varied(code, seed))).collect(),
            fragment: varied(self.fragment, seed),
        }
    }
}

/// Vertices of stages that read them.
struct Input {
    stages: Triangles,
    vertices: Buffer,
    mesh: Option<(ash::ext::mesh_shader::Device, Bindings)>,
}

impl Input {
    /// As many as one workgroup of the mesh shader reads: the same large triangle again and again.
    fn new(context: &Rc<Context>, stages: Triangles) -> Result<Input> {
        let corners: [[f32; 2]; 3] = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
        let floats =
            corners.iter().cycle().take(120).flat_map(|c| [c[0], c[1], 0.5, 1.0, 0.5, 0.5, 0.5, 0.5]);
        let bytes: Vec<u8> = floats.flat_map(f32::to_le_bytes).collect();
        let vertices = Buffer::with(context, &bytes)?;
        let mesh = if stages == Triangles::Mesh { Some(meshes(context, &vertices)?) } else { None };
        Ok(Input { stages, vertices, mesh })
    }
}

fn frame(context: &Rc<Context>, target: &Image, code: Option<&Code>, input: Option<&Input>) -> Result<()> {
    let bindings = input.and_then(|i| i.mesh.as_ref()).map(|m| &m.1);
    let pipeline = match code {
        Some(code) => {
            let mut info = PipelineInfo::new(code.vertex, &code.fragment, FORMAT);
            info.stages = code.stages.iter().map(|(stage, code)| (*stage, &code[..])).collect();
            if let Some(input) = input {
                info = input.stages.assembled(info);
            }
            Some(Pipeline::new(context, &info, bindings)?)
        }
        None => None,
    };
    let pass = Pass {
        colours: vec![Attachment::new(target, Load::colour([1.0, 0.0, 1.0, 0.0]))],
        size: [SIDE, SIDE],
        ..Default::default()
    };
    context.run(|device, commands| {
        pass.record(device, commands, |device, commands| {
            if let Some(pipeline) = &pipeline {
                pipeline.bind(commands, bindings, &[]);
                // SAFETY: recording inside a pass, with live handles.
                unsafe {
                    if let Some((mesh, _)) = input.and_then(|i| i.mesh.as_ref()) {
                        return mesh.cmd_draw_mesh_tasks(commands, 1, 1, 1);
                    }
                    if let Some(input) = input {
                        device.cmd_bind_vertex_buffers(commands, 0, &[input.vertices.handle], &[0]);
                    }
                    device.cmd_draw(commands, 3, 1, 0, 0)
                }
            }
        });
    })
}

/// The module with every 32-bit float constant but 0 and 1 changed by up to one part in 4096.
fn varied(spirv: &[u8], seed: u64) -> Vec<u8> {
    const HEADER: usize = 5;
    const TYPE_FLOAT: u32 = 22;
    const CONSTANT: u32 = 43;
    let mut words = crate::words(spirv);
    let mut random = random::Random::new(seed);
    let mut float = None;
    let mut at = HEADER;
    while at < words.len() {
        let (op, length) = (words[at] & 0xffff, (words[at] >> 16).max(1) as usize);
        match op {
            TYPE_FLOAT if words[at + 2] == 32 => float = Some(words[at + 1]),
            CONSTANT if Some(words[at + 1]) == float => {
                let value = f32::from_bits(words[at + 3]);
                let change = random.unit() / (1 << 12) as f32;
                if value != 0.0 && value != 1.0 {
                    words[at + 3] = (value * (1.0 + change)).to_bits();
                }
            }
            _ => {}
        }
        at += length;
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_change_constants_and_nothing_else() {
        for First { name, fragment: code, .. } in FIRST_FRAMES {
            let (a, b) = (varied(code, 1), varied(code, 2));
            assert_eq!(a.len(), code.len());
            let words = |x: &[u8], y: &[u8]| x.chunks(4).zip(y.chunks(4)).filter(|(a, b)| a != b).count();
            assert!(words(&a, &b) > 0, "{name}");
            assert!(words(&a, code) < code.len() / 16, "{name}");
        }
    }
}
