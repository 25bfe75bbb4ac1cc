//! Pictures as data: draws with their state, and what must come out of them.
//!
//! A [`Scene`] is drawn through the Vulkan API ([`draw`]) and compared with something that is not Tuff: a small
//! renderer in exact coordinates that knows the same data ([`reference`]), a formula, or lavapipe's picture. One golden
//! hash a scene (`goldens.txt`) then says that the bits are the same on every SIMD level and thread count.
//! `shaders/scenes/` has the shaders, compiled as those of the compute cases.

mod draw;
mod list;
mod operations;
mod picture;
mod random;
pub mod reference;
mod stages;
mod textures;
mod via;

pub use picture::{decode_png, write_png};
pub use random::{random, wild};

use ash::vk;

/// Position in clip space and colour (or whatever else the fragment shader wants).
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    pub at: [f32; 4],
    pub colour: [f32; 4],
}

/// What a fragment's colour is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The interpolated colour.
    Colour,
    /// The same, in every other 3×3 cell of a chequerboard.
    Discard,
    /// Red and green interpolated, blue a quarter of the view's index.
    Views,
    /// The texture at the colour's x and y.
    Texture,
    /// The cube texture in the colour's direction.
    Cube,
    /// Something that leaves numbers in private memory and registers, and something that looks for them.
    Secrets,
    Leftovers,
    /// Much arithmetic on the colour's x and y, of so many registers that waves are narrower than others'.
    Large,
}

/// Fixed-function state of a draw.
#[derive(Clone, Copy)]
pub struct State {
    pub depth: Option<(vk::CompareOp, bool)>,
    /// Front and back.
    pub stencil: Option<[vk::StencilOpState; 2]>,
    pub blend: vk::PipelineColorBlendAttachmentState,
    pub blend_constants: [f32; 4],
    pub cull: vk::CullModeFlags,
    pub front_face: vk::FrontFace,
    /// Pixels.
    pub point_size: f32,
}

impl Default for State {
    fn default() -> Self {
        Self {
            depth: None,
            stencil: None,
            blend: client::graphics::opaque(),
            blend_constants: [0.0; 4],
            cull: vk::CullModeFlags::NONE,
            front_face: vk::FrontFace::COUNTER_CLOCKWISE,
            point_size: 1.0,
        }
    }
}

pub struct Draw {
    pub program: Program,
    pub topology: vk::PrimitiveTopology,
    pub vertices: Vec<Vertex>,
    /// None: vertices in order. `u32::MAX` restarts a strip or fan.
    pub indices: Vec<u32>,
    pub instances: u32,
    pub state: State,
    /// How the device comes to these vertices, if it is not given them.
    pub via: Option<via::Via>,
}

impl Draw {
    pub fn list(program: Program, vertices: Vec<Vertex>, state: State) -> Self {
        let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
        Self { program, topology, vertices, indices: vec![], instances: 1, state, via: None }
    }
}

/// RGBA8 texels, mip by mip, each with all its layers.
pub struct Texture {
    pub side: u32,
    pub mips: u32,
    pub cube: bool,
    pub texels: Vec<u8>,
    pub filter: vk::Filter,
    pub mip_filter: vk::SamplerMipmapMode,
    /// 1 for none.
    pub anisotropy: f32,
}

/// What the picture must be.
pub enum Expect {
    /// The reference renderer's, up to so many 255ths a channel, and so many pixels in a thousand that differ more.
    Reference { tolerance: f64, per_mille: usize },
    /// This colour in 255ths at the pixel's x and y, where one is known, up to so many 255ths.
    Formula(Box<dyn Fn(u32, u32) -> Option<[f64; 4]>>, f64),
    /// A picture that lavapipe drew (PNG), as for the reference.
    Lavapipe { png: &'static [u8], tolerance: f64, per_mille: usize },
}

pub struct Scene {
    pub name: &'static str,
    pub size: [u32; 2],
    pub samples: u32,
    /// More than one: multiview.
    pub views: u32,
    pub clear: [f32; 4],
    pub draws: Vec<Draw>,
    pub texture: Option<Texture>,
    pub expect: Expect,
}

impl Scene {
    fn new(name: &'static str, draws: Vec<Draw>, expect: Expect) -> Self {
        let clear = [0.125, 0.25, 0.5, 1.0];
        Self { name, size: [256, 256], samples: 1, views: 1, clear, draws, texture: None, expect }
    }
}

/// What was drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    /// RGBA8, resolved, one view after the other.
    pub pixels: Vec<[u8; 4]>,
    /// Samples that passed, by draw.
    pub passed: Vec<u64>,
}

/// Offset of a view in clip space's x (before the division).
const VIEW_SHIFT: f32 = 0.25;

/// All of them.
pub fn scenes() -> Vec<Scene> {
    let mut all = list::scenes();
    all.extend(operations::scenes());
    all.extend(stages::scenes());
    all.extend(textures::scenes());
    all.push(large_mesh());
    all.push(leftovers());
    all
}

/// A fragment shader sees nothing of what another left.
fn leftovers() -> Scene {
    let corner = |x: f32, y: f32| Vertex { at: [x, y, 0.5, 1.0], colour: [0.5; 4] };
    let square = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
    let draw = |program| Draw::list(program, square.map(|(x, y)| corner(x, y)).to_vec(), State::default());
    let expect = Expect::Formula(Box::new(|_, _| Some([0.0, 0.0, 0.0, 255.0])), 0.0);
    Scene::new("leftovers", vec![draw(Program::Secrets), draw(Program::Leftovers)], expect)
}

/// A mesh of small triangles: which of their quads share a warp depends on the wave's width, and with it what is counted.
fn large_mesh() -> Scene {
    const SIDE: u32 = 24;
    let corner = |x: u32, y: u32| {
        let [u, v] = [x, y].map(|i| i as f32 / SIDE as f32);
        Vertex { at: [u * 2.0 - 1.0, v * 2.0 - 1.0, 0.5, 1.0], colour: [u, v, 0.0, 1.0] }
    };
    let square =
        |(x, y)| [(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)].map(|(dx, dy)| corner(x + dx, y + dy));
    let vertices = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))).flat_map(square).collect();
    // The shader's numbers grow without bound, and the fraction of infinity is NaN: black, as on lavapipe.
    let expect = Expect::Formula(Box::new(|_, _| Some([0.0; 4])), 0.0);
    Scene::new("large_mesh", vec![Draw::list(Program::Large, vertices, State::default())], expect)
}

impl Scene {
    /// FNV-1a over pixels and counts.
    pub fn hash(&self, output: &Output) -> u64 {
        let pixels = output.pixels.iter().map(|p| u64::from(u32::from_le_bytes(*p)));
        pixels
            .chain(output.passed.iter().copied())
            .fold(0xcbf2_9ce4_8422_2325, |h, w| (h ^ w).wrapping_mul(0x100_0000_01b3))
    }

    /// What is wrong with the output, if anything.
    pub fn check(&self, output: &Output) -> Result<(), String> {
        let pixels = self.size[0] as usize * self.size[1] as usize * self.views as usize;
        if output.pixels.len() != pixels {
            return Err(format!("{} pixels, not {pixels}", output.pixels.len()));
        }
        match &self.expect {
            Expect::Reference { tolerance, per_mille } => {
                let want = reference::render(self);
                self.compare(&output.pixels, &want.pixels, *tolerance, *per_mille)?;
                let slack = |n: u64| n * *per_mille as u64 / 1000;
                let wrong = |(i, (g, w)): (usize, (&u64, &u64))| {
                    (g.abs_diff(*w) > slack(*w)).then(|| format!("draw {i}: {g} samples passed, not {w}"))
                };
                output.passed.iter().zip(&want.passed).enumerate().find_map(wrong).map_or(Ok(()), Err)
            }
            Expect::Formula(formula, tolerance) => {
                for (i, got) in output.pixels.iter().enumerate() {
                    let (x, y) = (i as u32 % self.size[0], i as u32 / self.size[0]);
                    if let Some(want) = formula(x, y).filter(|w| apart(*got, *w) > *tolerance) {
                        return Err(format!("pixel {x}, {y}: {got:?}, not {:?}", want.map(f64::round)));
                    }
                }
                Ok(())
            }
            Expect::Lavapipe { png, tolerance, per_mille } => {
                let want: Vec<_> = decode_png(png)?.iter().map(|p| p.map(f64::from)).collect();
                self.compare(&output.pixels, &want, *tolerance, *per_mille)
            }
        }
    }

    fn compare(
        &self,
        got: &[[u8; 4]],
        want: &[[f64; 4]],
        tolerance: f64,
        per_mille: usize,
    ) -> Result<(), String> {
        if got.len() != want.len() {
            return Err(format!("{} pixels, not {}", got.len(), want.len()));
        }
        let wrong: Vec<usize> = (0..got.len()).filter(|i| apart(got[*i], want[*i]) > tolerance).collect();
        if wrong.len() <= got.len() * per_mille / 1000 {
            return Ok(());
        }
        let at = wrong[0];
        let (x, y) = (at as u32 % self.size[0], at as u32 / self.size[0]);
        let (got, want) = (got[at], want[at].map(|v| (v * 10.0).round() / 10.0));
        Err(format!("{} wrong pixels, first {x}, {y}: {got:?}, not {want:?}", wrong.len()))
    }
}

/// The largest difference of two colours.
fn apart(got: [u8; 4], want: [f64; 4]) -> f64 {
    (0..4).map(|c| (f64::from(got[c]) - want[c].clamp(0.0, 255.0)).abs()).fold(0.0, f64::max)
}
