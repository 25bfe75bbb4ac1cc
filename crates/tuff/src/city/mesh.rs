//! The city's triangles: hills and a shore, houses on a plain, trees, marble balls, water.

use super::math::normalized;
use glam::{Vec3, vec3};
use random::Random;

/// Bytes of a vertex: position, normal, texture coordinates and kind (floats), tint (four bytes).
#[cfg(test)]
const STRIDE: u32 = 40;

/// What a surface is, as city.frag knows it.
#[derive(Clone, Copy)]
enum Surface {
    Ground = 0,
    House = 1,
    Leaves = 2,
    Marble = 3,
    Water = 4,
}

#[derive(Default)]
pub struct Mesh {
    pub vertices: Vec<u8>,
    pub indices: Vec<u32>,
    count: u32,
}

/// Half of the ground's side.
const REACH: f32 = 64.0;
const CELLS: u32 = 280;
const WATER: f32 = -0.9;

/// Value noise: smooth, in [0, 1), a cell a unit.
fn noise(x: f32, z: f32) -> f32 {
    let at = |x: i32, z: i32| {
        let h = (x.wrapping_mul(374_761_393) ^ z.wrapping_mul(668_265_263)) as u32;
        let h = (h ^ (h >> 13)).wrapping_mul(1_274_126_177);
        ((h ^ (h >> 16)) >> 8) as f32 / (1u32 << 24) as f32
    };
    let (ix, iz) = (x.floor() as i32, z.floor() as i32);
    let [u, v] = [x - x.floor(), z - z.floor()].map(|f| f * f * (3.0 - 2.0 * f));
    let row = |z: i32| at(ix, z) * (1.0 - u) + at(ix + 1, z) * u;
    row(iz) * (1.0 - v) + row(iz + 1) * v
}

fn step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The ground's height: a plain for the city in the middle, hills behind it, the sea in front.
fn height(x: f32, z: f32) -> f32 {
    let mut sum = 0.0;
    let (mut scale, mut size) = (0.045, 9.0);
    for _ in 0..5 {
        sum += size * (noise(x * scale + 17.0, z * scale + 5.0) - 0.35);
        scale *= 2.1;
        size *= 0.45;
    }
    let distance = (x * x + z * z).sqrt();
    let hills = sum * (0.7 + 1.1 * step(20.0, 60.0, -z));
    let plain = 0.05 * noise(x, z);
    let land = plain + (hills - plain) * step(19.0, 34.0, distance);
    land - 6.0 * step(17.0, 34.0, z + 4.0 * noise(x * 0.12, 3.0))
}

impl Mesh {
    fn vertex(&mut self, at: Vec3, normal: Vec3, uv: [f32; 2], kind: Surface, tint: [u8; 3]) -> u32 {
        let floats = at.to_array().into_iter().chain(normal.to_array()).chain(uv).chain([kind as u32 as f32]);
        self.vertices.extend(floats.flat_map(f32::to_le_bytes));
        self.vertices.extend([tint[0], tint[1], tint[2], 255]);
        self.count += 1;
        self.count - 1
    }

    fn quad(&mut self, corners: [u32; 4]) {
        let [a, b, c, d] = corners;
        self.indices.extend([a, b, c, c, b, d]);
    }

    fn ground(&mut self) {
        let place = |i: u32| (i as f32 / CELLS as f32 * 2.0 - 1.0) * REACH;
        let first = self.count;
        for (x, z) in (0..=CELLS).flat_map(|z| (0..=CELLS).map(move |x| (place(x), place(z)))) {
            let slope = |dx, dz| height(x + dx, z + dz) - height(x - dx, z - dz);
            let normal = normalized(vec3(-slope(0.2, 0.0), 0.4, -slope(0.0, 0.2)));
            self.vertex(vec3(x, height(x, z), z), normal, [x * 0.4, z * 0.4], Surface::Ground, [255; 3]);
        }
        for (x, z) in (0..CELLS).flat_map(|z| (0..CELLS).map(move |x| (x, z))) {
            let at = first + z * (CELLS + 1) + x;
            self.quad([at, at + 1, at + CELLS + 1, at + CELLS + 2]);
        }
    }

    /// A face from `at` along two edges; `repeat` textures along each.
    fn face(&mut self, at: Vec3, edges: [Vec3; 2], repeat: [f32; 2], tint: [u8; 3]) {
        let normal = normalized(edges[0].cross(edges[1]));
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0f32]].map(|[u, v]| {
            let p = at + edges[0] * u + edges[1] * v;
            self.vertex(p, normal, [u * repeat[0], v * repeat[1]], Surface::House, tint)
        });
        self.quad(corners);
    }

    /// Four walls and a roof, turned about the vertical.
    fn house(&mut self, at: Vec3, size: Vec3, tint: [u8; 3]) {
        let [w, h, d] = size.to_array();
        let up = vec3(0.0, h, 0.0);
        let walls = [
            (at + vec3(-w, 0.0, d), vec3(2.0 * w, 0.0, 0.0)),
            (at + vec3(w, 0.0, d), vec3(0.0, 0.0, -2.0 * d)),
            (at + vec3(w, 0.0, -d), vec3(-2.0 * w, 0.0, 0.0)),
            (at + vec3(-w, 0.0, -d), vec3(0.0, 0.0, 2.0 * d)),
        ];
        for (from, along) in walls {
            let length = along.x.abs() + along.z.abs();
            let windows = [(length * 0.8).round().max(1.0) * 0.5, (h * 0.8).round().max(1.0) * 0.5];
            self.face(from, [along, up], windows, tint);
        }
        // A roof without windows: a corner of the texture that is wall.
        let roof = at + vec3(-w, h, d);
        self.face(
            roof,
            [vec3(2.0 * w, 0.0, 0.0), vec3(0.0, 0.0, -2.0 * d)],
            [0.02, 0.02],
            tint.map(|c| c / 2 + 60),
        );
    }

    fn ball(&mut self, middle: Vec3, radius: [f32; 2], kind: Surface, tint: [u8; 3], rings: u32) {
        let around = rings * 3 / 2;
        let first = self.count;
        let rough = if matches!(kind, Surface::Leaves) { 0.22 } else { 0.0 };
        for (ring, k) in (0..=rings).flat_map(|r| (0..=around).map(move |k| (r, k))) {
            let polar = ring as f32 / rings as f32 * std::f32::consts::PI;
            let turn = k as f32 / around as f32 * std::f32::consts::TAU;
            let normal = vec3(polar.sin() * turn.cos(), polar.cos(), polar.sin() * turn.sin());
            let bump = 1.0
                + rough
                    * (noise(3.0 * normal.x + middle.x * 7.0, 3.0 * normal.y + 3.0 * normal.z.abs()) - 0.5);
            let at = middle + normal * bump * vec3(radius[0], radius[1], radius[0]);
            let uv = [turn * 0.6, polar * 0.6];
            self.vertex(at, normal, uv, kind, tint);
        }
        for (ring, k) in (0..rings).flat_map(|r| (0..around).map(move |k| (r, k))) {
            let at = first + ring * (around + 1) + k;
            self.quad([at, at + 1, at + around + 1, at + around + 2]);
        }
    }

    fn water(&mut self) {
        let corner = |x: f32, z: f32| vec3(x * REACH * 3.0, WATER, z * REACH * 3.0);
        let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
            .map(|[x, z]| self.vertex(corner(x, z), Vec3::Y, [0.0; 2], Surface::Water, [255; 3]));
        self.quad(corners);
    }

    fn houses(&mut self, random: &mut Random) {
        const TINTS: [[u8; 3]; 6] = [
            [236, 226, 208],
            [214, 176, 140],
            [190, 198, 206],
            [226, 204, 160],
            [176, 132, 112],
            [240, 238, 232],
        ];
        for (bx, bz) in (-8..=8).flat_map(|z| (-8..=8).map(move |x| (x, z))) {
            let centre = [bx as f32 * 2.1 + if bx > 0 { 0.8 } else { 0.0 }, bz as f32 * 2.1];
            let distance = (centre[0] * centre[0] + centre[1] * centre[1]).sqrt();
            // A square is left for the balls.
            if distance > 17.5 || (centre[0].abs() < 3.0 && (centre[1] - 6.0).abs() < 3.0) {
                continue;
            }
            let tall = 0.5 + 5.0 * (1.0 - distance / 18.0).max(0.0).powi(2) * (0.4 + random.unit());
            for lot in 0..2 {
                let tint = TINTS[(random.u32() % 6) as usize];
                let [w, d] = [0.32 + 0.14 * random.unit(), 0.55 + 0.3 * random.unit()];
                let h = tall * (0.6 + 0.7 * random.unit());
                let x = centre[0] + if lot == 0 { -0.48 } else { 0.48 };
                self.house(vec3(x, height(x, centre[1]) - 0.1, centre[1]), vec3(w, h, d), tint);
                if h > 2.2 {
                    self.house(
                        vec3(x, height(x, centre[1]) + h - 0.1, centre[1]),
                        vec3(w * 0.6, h * 0.3, d * 0.6),
                        tint,
                    );
                }
            }
        }
    }

    fn trees(&mut self, random: &mut Random) {
        let mut left = 240;
        while left > 0 {
            let [x, z] = [(); 2].map(|()| (random.unit() * 2.0 - 1.0) * 46.0);
            let y = height(x, z);
            let steep = (height(x + 0.5, z) - y).abs() + (height(x, z + 0.5) - y).abs();
            if (x * x + z * z).sqrt() < 19.0 || !(0.0..=6.0).contains(&y) || steep > 0.6 {
                continue;
            }
            let size = 0.5 + 0.6 * random.unit();
            let tint = [60 + (random.u32() % 70) as u8, 110 + (random.u32() % 50) as u8, 40];
            self.house(vec3(x, y - 0.2, z), vec3(0.08, 0.6, 0.08), [120, 90, 60]);
            self.ball(vec3(x, y + size, z), [size * 0.8, size], Surface::Leaves, tint, 18);
            left -= 1;
        }
    }
}

/// All of it, the same every time.
pub fn build() -> Mesh {
    let mut mesh = Mesh::default();
    let mut random = Random::default();
    mesh.ground();
    mesh.houses(&mut random);
    mesh.trees(&mut random);
    let balls = [
        ([0.0, 6.0], 1.5, [250, 244, 236]),
        ([-2.3, 7.6], 0.8, [220, 120, 90]),
        ([2.4, 7.9], 0.7, [90, 140, 200]),
    ];
    for ([x, z], radius, tint) in balls {
        mesh.ball(vec3(x, radius + 0.05, z), [radius; 2], Surface::Marble, tint, 64);
    }
    mesh.water();
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_few_hundred_thousand_triangles_with_good_indices() {
        let mesh = build();
        let triangles = mesh.indices.len() / 3;
        assert!((200_000..600_000).contains(&triangles), "{triangles}");
        let vertices = (mesh.vertices.len() / STRIDE as usize) as u32;
        assert!(mesh.indices.iter().all(|i| *i < vertices));
    }
}
