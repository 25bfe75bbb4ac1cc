//! What geometry costs on the modelled GPU: positions of all vertices, the rest of those that something visible uses; varyings of
//! half precision. Figures by hand.

use crate::gpu::Mapped;
use crate::graphics::{Flat, Make};
use crate::model::{Counted, SIDE};
use ash::vk;

const WHAT: [&str; 14] = [
    "Vertex shader invocations",
    "Vertex warps",
    "Attribute instructions",
    "Vertex FMA warp-instructions",
    "Vertex CVT warp-instructions",
    "Vertex SFU warp-instructions",
    "Load/store unit partial read issues",
    "Load/store unit full write issues",
    "Output external read bytes",
    "Output external write bytes",
    "Binning phase queue active cycles",
    "Varying unit instructions",
    "32-bit interpolation slots",
    "16-bit interpolation slots",
];

/// So many triangles are shaded and binned as one; chunks so few are followed through caches whole.
const CHUNK: u32 = 768;
const TRIANGLES: u32 = 4 * CHUNK;
const VERTICES: u32 = 3 * TRIANGLES;
/// Triangles one behind the other that are seen, or not.
const RUN: u32 = 16;

/// Triangles that cover everything, and triangles without area: so many of each in turn.
struct Scene {
    m: Counted,
    vertices: Mapped,
}

impl Scene {
    fn new() -> Scene {
        let m = Counted::new();
        let vertices = m.g.buffer(VERTICES as usize * 6);
        for (i, v) in vertices.words.chunks_exact_mut(6).enumerate() {
            let seen = (i as u32 / 3 / RUN).is_multiple_of(2);
            let corner = if seen { [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]][i % 3] } else { [-1.0f32; 2] };
            let [x, y] = corner;
            v.iter_mut().zip([x, y, 0.25, 0.25, 0.25, 0.25]).for_each(|(w, f)| *w = f.to_bits());
        }
        Scene { m, vertices }
    }

    /// Counts a draw of all of them in so many pixels from (63, 0) on, of which each of two lies in a region of its own.
    fn draw<const N: usize>(
        &self,
        names: [&str; N],
        pixels: u32,
        red: f32,
        vert: &[u8],
        frag: &[u8],
    ) -> [f64; N] {
        let m = &self.m;
        let programs = Flat::of(&m.g, vert, frag);
        let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
        let (pipeline, _) = programs.pipeline(&m.g, Make { topology, ..Default::default() }).unwrap();
        let got = m.count(names, |d, c| {
            m.pass(d, c, vk::RenderingFlags::empty(), red, || unsafe {
                let side = SIDE as f32;
                let view = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
                let extent = vk::Extent2D { width: pixels, height: 1 };
                let seen = vk::Rect2D { offset: vk::Offset2D { x: 63, y: 0 }, extent };
                d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline);
                d.cmd_set_viewport(c, 0, &[view]);
                d.cmd_set_scissor(c, 0, &[seen]);
                d.cmd_bind_vertex_buffers(c, 0, &[self.vertices.buffer], &[0]);
                d.cmd_draw(c, VERTICES, 1, 0, 0);
            });
        });
        unsafe { m.g.device.destroy_pipeline(pipeline, None) };
        programs.free(&m.g);
        got
    }

    fn free(self) {
        self.m.g.free(self.vertices);
        self.m.free();
    }
}

#[test]
fn half_of_the_triangles_are_culled() {
    let scene = Scene::new();
    let vert = include_bytes!("shaders/geometry.vert.spv");
    let got = scene.draw(WHAT, 2, 0.5, vert, include_bytes!("shaders/geometry.frag.spv"));
    let n = VERTICES as f64;
    // Positions' warps, and those of the half that is seen: runs of 48 vertices, three warps of neighbours.
    let (all, seen) = (n / 16.0, n / 32.0);
    let warps = all + seen;
    // Of an attribute for positions, and two for the rest.
    let attributes = all + 2.0 * seen;
    let (fma, cvt, sfu) = (3.0 * seen, 2.0 * all, 4.0 * seen);
    // Sixteen neighbours of 24 bytes are six lines, for either.
    let reads = 6.0 * warps;
    // Of what is seen 16 bytes a position; four components of four bytes and three of two. What is culled leaves nothing.
    let writes = n / 2.0 * (16.0 + 4.0 * 4.0 + 3.0 * 2.0) / 64.0;
    // A reference in two tiles for each triangle that is seen; the target.
    let lists = n / 6.0 * 2.0 * 8.0;
    let target = (SIDE * SIDE * 4) as f64;
    // What positions have read the L2 has for the rest. External memory is the slowest: 56 bytes a cycle.
    let moved = n * 24.0 + writes * 64.0 + lists;
    let cycles = (moved / 56.0).ceil() + 1000.0;
    // A quad in each region, of the last triangle: four slots of 32 bits, and three components of 16 bits in two. An instruction each.
    let want = [
        n,
        warps,
        attributes,
        fma,
        cvt,
        sfu,
        reads,
        writes,
        n * 24.0,
        writes * 64.0 + lists + target,
        cycles,
        4.0,
        8.0,
        4.0,
    ];
    assert_eq!(got, want);

    // Nothing that a vertex leaves besides its position is read: nothing else is shaded.
    let got = scene.draw(WHAT, 2, 0.75, vert, include_bytes!("shaders/geometry_none.frag.spv"));
    let writes = n / 2.0 * 16.0 / 64.0;
    let cycles = ((n * 24.0 + writes * 64.0 + lists) / 56.0).ceil() + 1000.0;
    let want = [
        n,
        all,
        all,
        0.0,
        cvt,
        0.0,
        6.0 * all,
        writes,
        n * 24.0,
        writes * 64.0 + lists + target,
        cycles,
        0.0,
        0.0,
        0.0,
    ];
    assert_eq!(got, want);
    scene.free();
}

/// The same in one region, which shades what is seen of them.
#[test]
fn small_triangles_are_shaded_where_they_are_drawn() {
    const MAIN: [&str; 8] = [
        "Visible primitives using DVS",
        "Tiler varying shading requests",
        "Fragment FMA warp-instructions",
        "Fragment CVT warp-instructions",
        "Fragment SFU warp-instructions",
        "Fragment warps",
        "Fragment front-end read beats from L2 cache",
        "Load/store unit read beats from L2 cache",
    ];
    let scene = Scene::new();
    let vert = include_bytes!("shaders/geometry.vert.spv");
    let frag = include_bytes!("shaders/geometry.frag.spv");
    let got = scene.draw(WHAT, 1, 0.5, vert, frag);
    let n = VERTICES as f64;
    let (all, seen) = (n / 16.0, n / 32.0);
    // Binning: positions of all. The main phase: all of what is seen, with three fetches of attributes.
    let (warps, attributes) = (all + seen, all + (1.0 + 2.0) * seen);
    let cvt = 2.0 * all;
    // Six lines for positions, and in the region six for these and the rest, which lie in the same.
    let reads = 6.0 * (all + seen);
    // References; positions neither of what is not seen nor of what its region shades.
    let (writes, lists) = (0.0, n / 6.0 * 8.0);
    let target = (SIDE * SIDE * 4) as f64;
    let cycles = ((n * 24.0 + writes * 64.0 + lists) / 56.0).ceil() + 1000.0;
    let want = [
        n,
        warps,
        attributes,
        0.0,
        cvt,
        0.0,
        reads,
        writes,
        n * 24.0,
        writes * 64.0 + lists + target,
        cycles,
        2.0,
        4.0,
        2.0,
    ];
    assert_eq!(got, want);
    // References of 8 bytes, and no position; each line that a vertex warp reads, in binning and in the region, comes from the L2.
    let got = scene.draw(MAIN, 1, 0.75, vert, frag);
    // The fragments' one warp ends with ATEST and BLEND.
    let want = [n / 6.0, 0.0, 3.0 * seen, 2.0 * seen + 2.0, 4.0 * seen, 1.0, lists / 16.0, 4.0 * reads];
    assert_eq!(got, want);

    // Where nothing but positions is needed, the region shades these alone.
    let got = scene.draw(MAIN, 1, 0.5, vert, include_bytes!("shaders/geometry_none.frag.spv"));
    let want = [n / 6.0, 0.0, 0.0, 2.0 * seen + 2.0, 0.0, 1.0, lists / 16.0, 4.0 * 6.0 * (all + seen)];
    assert_eq!(got, want);
    scene.free();
}
