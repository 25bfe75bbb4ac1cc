//! A scene of two million triangles (a city, and trees), and rays through it: primary, shadow and diffuse ones. It needs only `std`:
//! bvh's example `rays` compiles this file too, so that the same rays can be traced without Vulkan.

struct Rng(u64);

impl Rng {
    fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u64 << 24) as f32
    }
    fn range(&mut self, a: f32, b: f32) -> f32 {
        a + (b - a) * self.unit()
    }
}

pub type V = [f32; 3];

fn quad(out: &mut Vec<V>, a: V, b: V, c: V, d: V) {
    out.extend([a, b, c, a, c, d]);
}

fn cuboid(out: &mut Vec<V>, lo: V, hi: V) {
    let p = |k: usize| -> V { std::array::from_fn(|i| if k >> i & 1 != 0 { hi[i] } else { lo[i] }) };
    for [a, b, c, d] in [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]] {
        quad(out, p(a), p(b), p(c), p(d));
    }
}

/// Streets with houses of storeys and window frames, wires between poles, hills, and trees of many small leaves.
pub fn triangles() -> Vec<V> {
    let (mut out, mut r) = (Vec::new(), Rng(0x1234_5678_9ABC_DEF1));
    quad(&mut out, [-600.0, 0.0, -600.0], [600.0, 0.0, -600.0], [600.0, 0.0, 600.0], [-600.0, 0.0, 600.0]);
    for i in 0..24 {
        for j in 0..24 {
            let (x, z) = (i as f32 * 40.0 - 480.0, j as f32 * 40.0 - 480.0);
            if (i * 7 + j * 3) % 5 == 0 {
                continue;
            }
            let (w, d, h) = (r.range(8.0, 14.0), r.range(8.0, 14.0), r.range(8.0, 90.0));
            cuboid(&mut out, [x - w, 0.0, z - d], [x + w, h, z + d]);
            let mut y = 2.0;
            while y < h - 2.0 {
                for k in 0..6 {
                    let at = x - w + 1.5 + k as f32 * (2.0 * w - 3.0) / 5.0;
                    cuboid(&mut out, [at - 0.6, y, z - d - 0.1], [at + 0.6, y + 1.6, z - d]);
                    cuboid(&mut out, [at - 0.6, y, z + d], [at + 0.6, y + 1.6, z + d + 0.1]);
                }
                // Cornices: long and thin.
                cuboid(&mut out, [x - w - 0.3, y + 2.4, z - d - 0.3], [x + w + 0.3, y + 2.5, z + d + 0.3]);
                y += 3.5;
            }
            // Wires across the street.
            for k in 0..3 {
                let y = 7.0 + k as f32 * 0.5;
                quad(
                    &mut out,
                    [x, y, z + 20.0],
                    [x + 40.0, y + 0.3, z + 19.0],
                    [x + 40.0, y + 0.33, z + 19.0],
                    [x, y + 0.03, z + 20.0],
                );
            }
        }
    }
    // Hills around.
    let height = |x: f32, z: f32| {
        let d = (x * x + z * z).sqrt();
        (d - 520.0).max(0.0) * 0.2 * (1.0 + 0.3 * (x * 0.02).sin() + 0.3 * (z * 0.03).cos()) - 0.5
    };
    let n = 280;
    for i in 0..n {
        for j in 0..n {
            let at = |i: i32, j: i32| -> V {
                let (x, z) = (i as f32 * 8.0 - n as f32 * 4.0, j as f32 * 8.0 - n as f32 * 4.0);
                [x, height(x, z), z]
            };
            quad(&mut out, at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
        }
    }
    // Trees in the empty blocks.
    for i in 0..24 {
        for j in 0..24 {
            if (i * 7 + j * 3) % 5 != 0 {
                continue;
            }
            for _ in 0..4 {
                let (x, z) = (
                    i as f32 * 40.0 - 480.0 + r.range(-12.0, 12.0),
                    j as f32 * 40.0 - 480.0 + r.range(-12.0, 12.0),
                );
                let h = r.range(5.0, 12.0);
                cuboid(&mut out, [x - 0.3, 0.0, z - 0.3], [x + 0.3, h, z + 0.3]);
                for _ in 0..2000 {
                    let (a, b, c) = (r.range(-1.0, 1.0), r.range(-1.0, 1.0), r.range(-1.0, 1.0));
                    let by = h * 0.45 / (a * a + b * b + c * c).sqrt().max(0.7);
                    let p = [x + a * by, h + b * by, z + c * by];
                    let leaf = |r: &mut Rng| -> V { std::array::from_fn(|k| p[k] + r.range(-0.25, 0.25)) };
                    let (u, v, w) = (leaf(&mut r), leaf(&mut r), leaf(&mut r));
                    out.extend([u, v, w]);
                }
            }
        }
    }
    out
}

fn normal(p: &[V]) -> V {
    let [a, b] = [1, 2].map(|k| -> V { std::array::from_fn(|i| p[k][i] - p[0][i]) });
    let n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let len = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt().max(1e-20);
    n.map(|x| x / len)
}

/// A ray as the shaders read it: origin, least t, direction, greatest t.
pub type Ray = [f32; 8];

/// Size of the picture that the primary rays are of.
pub const SIZE: [u32; 2] = [1024, 768];
pub const EYE: V = [-390.0, 32.0, -382.0];

pub fn primary(eye: V) -> Vec<Ray> {
    let [w, h] = SIZE;
    let ray = |x: u32, y: u32| {
        let (u, v) = ((x as f32 + 0.5) / w as f32 * 2.0 - 1.0, 1.0 - (y as f32 + 0.5) / h as f32 * 2.0);
        let [dx, dy, dz] = [0.75 + u * 0.7, v * 0.72 - 0.12, 0.7 - u * 0.75];
        [eye[0], eye[1], eye[2], 0.0, dx, dy, dz, 1e30]
    };
    (0..h).flat_map(|y| (0..w).map(move |x| ray(x, y))).collect()
}

/// Shadow and diffuse rays from where rays hit: `hit` has t and the triangle of a ray.
pub fn secondary(
    triangles: &[V],
    rays: &[Ray],
    hit: impl Fn(usize) -> Option<(f32, usize)>,
) -> (Vec<Ray>, Vec<Ray>) {
    let mut r = Rng(99);
    let (mut shadow, mut diffuse) = (Vec::new(), Vec::new());
    for (i, ray) in rays.iter().enumerate() {
        let Some((t, triangle)) = hit(i) else { continue };
        let mut n = normal(&triangles[triangle * 3..][..3]);
        if n[0] * ray[4] + n[1] * ray[5] + n[2] * ray[6] > 0.0 {
            n = n.map(|x| -x);
        }
        let [x, y, z]: V = std::array::from_fn(|i| ray[i] + ray[4 + i] * t + n[i] * 1e-3);
        let sun = [0.4 + r.range(-0.02, 0.02), 0.8, 0.3 + r.range(-0.02, 0.02)];
        shadow.push([x, y, z, 1e-3, sun[0], sun[1], sun[2], 1e30]);
        let d: V = loop {
            let d: V = std::array::from_fn(|_| r.range(-1.0, 1.0));
            if d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < 1.0 {
                break d;
            }
        };
        let d: V = std::array::from_fn(|i| n[i] * 1.001 + d[i]);
        diffuse.push([x, y, z, 1e-3, d[0], d[1], d[2], 1e30]);
    }
    (shadow, diffuse)
}
