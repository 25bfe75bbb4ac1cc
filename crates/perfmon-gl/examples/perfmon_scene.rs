//! A scene of workloads that every way of measuring sees: `cargo xtask five-ways` runs it with each and compares.
//!
//! `tuff gl -- perfmon_scene [CHUNK]`: a session of GL_AMD_performance_monitor around each workload, of the CHUNKth lot of
//! as many counters of each group as a session can have; one line of JSON for each session, with the counters' values by
//! their ids. Without CHUNK, or without the extension, the workloads alone.
//!
//! What zink makes of it must be render passes and copies, one workload a session: Arm's layer has no row for blits and
//! resolves. So formats and sizes are the same on both sides of a copy, and each workload is finished before the next.

mod surfaceless;

use surfaceless::{AVAILABLE, COLOR_BUFFER_BIT, Gl};

const SIDE: i32 = 256;
const TEXTURE: u32 = 0x0DE1;
const FRAMEBUFFER: u32 = 0x8D40;
const RGBA: u32 = 0x1908;
const RGBA8: i32 = 0x8058;
const BYTES: u32 = 0x1401;
const BLEND: u32 = 0x0BE2;
const TRIANGLES: u32 = 4;
const TIMESTAMP: u32 = 0x8E28;

const VERTEX: &str = "#version 120
    attribute vec2 p; uniform vec2 move; varying vec2 at;
    void main() { at = p * 0.5 + 0.5; gl_Position = vec4(p + move, 0.0, 1.0); }";
/// Special functions and conversions.
const WAVES: &str = "#version 120
    varying vec2 at;
    void main() {
        float a = sin(at.x * 40.0) * cos(at.y * 30.0) + exp2(-at.x) + inversesqrt(at.y + 1.0);
        int steps = int(a * 8.0);
        gl_FragColor = vec4(float(steps) * 0.125, at, 1.0);
    }";
/// Textures and blending.
const TEXELS: &str = "#version 120
    varying vec2 at; uniform sampler2D picture;
    void main() { gl_FragColor = vec4(texture2D(picture, at * 3.0).rgb + texture2D(picture, at.yx).bgr, 0.5); }";
/// Plain arithmetic, in a loop.
const LOOP: &str = "#version 120
    varying vec2 at;
    void main() {
        vec2 z = at;
        for (int i = 0; i < 20; i++) z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + at * 0.5;
        gl_FragColor = vec4(z, 0.0, 1.0);
    }";

/// The whole picture as two triangles; a triangle outside, one across the border, one of no size, small ones.
fn corners() -> Vec<f32> {
    let mut all = vec![-1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0];
    all.extend([2.0, 2.0, 3.0, 2.0, 2.0, 3.0]);
    all.extend([0.0, 0.0, 3.0, 0.0, 0.0, 3.0]);
    all.extend([0.5f32; 6]);
    for i in 0..100 {
        let (x, y) = (-0.95 + (i % 10) as f32 * 0.19, -0.95 + (i / 10) as f32 * 0.19);
        all.extend([x, y, x + 0.1, y, x, y + 0.1]);
    }
    all
}

struct Scene {
    gl: Gl,
    waves: u32,
    texels: u32,
    looped: u32,
    /// Textures that are drawn to, with their framebuffers.
    targets: [(u32, u32); 2],
}

impl Scene {
    fn new(gl: Gl) -> Result<Scene, String> {
        let [waves, texels, looped] = [WAVES, TEXELS, LOOP].map(|f| gl.program(VERTEX, f));
        gl.vertices(&corners());
        let mut targets = [(0, 0); 2];
        // SAFETY: GL's functions.
        unsafe {
            for (texture, framebuffer) in &mut targets {
                (gl.gen_textures)(1, texture);
                (gl.bind_texture)(TEXTURE, *texture);
                for (name, value) in [(0x2800, 0x2601), (0x2801, 0x2601)] {
                    (gl.tex_parameter)(TEXTURE, name, value);
                }
                (gl.tex_image)(TEXTURE, 0, RGBA8, SIDE, SIDE, 0, RGBA, BYTES, std::ptr::null());
                (gl.gen_framebuffers)(1, framebuffer);
                (gl.bind_framebuffer)(FRAMEBUFFER, *framebuffer);
                (gl.framebuffer_texture)(FRAMEBUFFER, 0x8CE0, TEXTURE, *texture, 0);
                if (gl.check_framebuffer)(FRAMEBUFFER) != 0x8CD5 {
                    return Err("a texture cannot be drawn to".into());
                }
            }
            (gl.viewport)(0, 0, SIDE, SIDE);
        }
        Ok(Scene { gl, waves, texels, looped, targets })
    }

    /// Clears a target, and draws these vertices for each place.
    fn pass(&self, target: usize, program: u32, (first, count): (i32, i32), places: &[[f32; 2]]) {
        let gl = &self.gl;
        // SAFETY: GL's functions.
        unsafe {
            (gl.bind_framebuffer)(FRAMEBUFFER, self.targets[target].1);
            (gl.clear_color)(0.25, 0.5, 0.0, 1.0);
            (gl.clear)(COLOR_BUFFER_BIT);
            (gl.use_program)(program);
            let place = (gl.get_uniform_location)(program, c"move".as_ptr());
            for [x, y] in places {
                (gl.uniform_2f)(place, *x, *y);
                (gl.draw_arrays)(TRIANGLES, first, count);
            }
        }
    }

    /// The workloads.
    fn workloads() -> [(&'static str, fn(&Scene)); 6] {
        // SAFETY (all): GL's functions; arrays of the sizes that are told.
        [
            ("upload", |s| unsafe {
                let texels: Vec<u8> = (0..SIDE * SIDE * 4).map(|i| (i * 7 / 5) as u8).collect();
                (s.gl.bind_texture)(TEXTURE, s.targets[1].0);
                (s.gl.tex_sub_image)(TEXTURE, 0, 0, 0, SIDE, SIDE, RGBA, BYTES, texels.as_ptr().cast());
            }),
            ("waves", |s| s.pass(0, s.waves, (0, 6), &[[0.0, 0.0], [0.5, 0.0], [0.0, 0.25]])),
            ("small triangles", |s| s.pass(1, s.looped, (6, 309), &[[0.0, 0.0], [0.01, 0.02]])),
            // From the target that is bound.
            ("copy", |s| unsafe {
                (s.gl.bind_texture)(TEXTURE, s.targets[0].0);
                (s.gl.copy_tex_sub_image)(TEXTURE, 0, 0, 0, 16, 16, SIDE / 2, SIDE / 2);
            }),
            ("blended texels", |s| unsafe {
                (s.gl.enable)(BLEND);
                (s.gl.blend_func)(0x0302, 0x0303);
                (s.gl.bind_texture)(TEXTURE, s.targets[0].0);
                s.pass(1, s.texels, (0, 15), &[[0.0, 0.0], [0.3, -0.2], [-0.4, 0.4]]);
                (s.gl.disable)(BLEND);
            }),
            ("read", |s| unsafe {
                let mut picture = vec![0u8; (SIDE * SIDE * 4) as usize];
                (s.gl.read_pixels)(0, 0, SIDE, SIDE, RGBA, BYTES, picture.as_mut_ptr().cast());
            }),
        ]
    }
}

fn main() -> Result<(), String> {
    let chunk: Option<usize> = std::env::args().nth(1).and_then(|a| a.parse().ok());
    let scene = Scene::new(Gl::new(false)?)?;
    let gl = &scene.gl;
    let chunk = chunk.filter(|_| gl.extensions().split(' ').any(|e| e == "GL_AMD_performance_monitor"));
    // SAFETY: GL's functions.
    unsafe { (gl.finish)() };
    for (name, work) in Scene::workloads() {
        let Some(chunk) = chunk else {
            work(&scene);
            // SAFETY: as above.
            unsafe { (gl.finish)() };
            continue;
        };
        let mut monitor = 0;
        // SAFETY: as above; arrays of the lengths that are told.
        unsafe {
            (gl.gen_monitors)(1, &mut monitor);
            for (group, counters, active) in gl.catalogue() {
                let mut some = counters.chunks(active).nth(chunk).unwrap_or_default().to_vec();
                (gl.select)(monitor, 1, group, some.len() as i32, some.as_mut_ptr());
            }
            (gl.begin)(monitor);
            // zink moves a copy of what its batch has not used yet to the batch's front: the mark must be of an earlier
            // one, and zink sends none without work, which a timestamp is.
            let mut query = 0;
            (gl.gen_queries)(1, &mut query);
            (gl.query_counter)(query, TIMESTAMP);
            (gl.flush)();
            work(&scene);
            // The whole pass, its stores too.
            (gl.flush)();
            (gl.end)(monitor);
        }
        while gl.number(monitor, AVAILABLE) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let values: Vec<_> =
            gl.result(monitor).iter().map(|(_, id, _, v)| format!("\"{id}\": {v}")).collect();
        println!("{{\"workload\": \"{name}\", \"counters\": {{{}}}}}", values.join(", "));
    }
    // SAFETY: as above.
    match unsafe { (gl.get_error)() } {
        0 => Ok(()),
        error => Err(format!("GL says {error:#x}")),
    }
}
