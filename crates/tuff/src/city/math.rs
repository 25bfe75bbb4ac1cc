//! Vectors and matrices (columns first), as many as the city needs.

pub type Vec3 = [f32; 3];
/// Four columns.
pub type Mat4 = [[f32; 4]; 4];

pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn normalized(a: Vec3) -> Vec3 {
    let length = dot(a, a).sqrt();
    a.map(|v| v / length)
}

pub fn product(a: &Mat4, b: &Mat4) -> Mat4 {
    std::array::from_fn(|c| std::array::from_fn(|r| (0..4).map(|k| a[k][r] * b[c][k]).sum()))
}

/// Right, down and forward of an eye at `from` that looks at `to`.
pub fn axes(from: Vec3, to: Vec3) -> [Vec3; 3] {
    let forward = normalized(sub(to, from));
    let right = normalized(cross(forward, [0.0, 1.0, 0.0]));
    [right, cross(forward, right), forward]
}

/// World to eye: x right, y down, z forward.
pub fn looking(from: Vec3, to: Vec3) -> Mat4 {
    let axes = axes(from, to);
    let column = |c: usize| [axes[0][c], axes[1][c], axes[2][c], 0.0];
    let moved = axes.map(|a| -dot(a, from));
    [column(0), column(1), column(2), [moved[0], moved[1], moved[2], 1.0]]
}

/// Perspective with a vertical opening of `2 atan(half)`, depth 0 at `near` and 1 at `far`.
pub fn perspective(half: f32, aspect: f32, near: f32, far: f32) -> Mat4 {
    let depth = far / (far - near);
    [
        [1.0 / (half * aspect), 0.0, 0.0, 0.0],
        [0.0, 1.0 / half, 0.0, 0.0],
        [0.0, 0.0, depth, 1.0],
        [0.0, 0.0, -near * depth, 0.0],
    ]
}

/// Parallel: `reach` to each side, depth 0 at the eye and 1 at `far`.
pub fn parallel(reach: f32, far: f32) -> Mat4 {
    [
        [1.0 / reach, 0.0, 0.0, 0.0],
        [0.0, 1.0 / reach, 0.0, 0.0],
        [0.0, 0.0, 1.0 / far, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_view_is_what_is_looked_at() {
        let m = product(&perspective(0.5, 1.5, 0.1, 100.0), &looking([3.0, 4.0, 5.0], [1.0, 2.0, -7.0]));
        let at = |p: [f32; 4]| -> [f32; 4] { std::array::from_fn(|r| (0..4).map(|k| m[k][r] * p[k]).sum()) };
        let middle = at([1.0, 2.0, -7.0, 1.0]);
        assert!(middle[0].abs() < 1e-4 && middle[1].abs() < 1e-4);
        let depth = middle[2] / middle[3];
        assert!(depth > 0.0 && depth < 1.0);
        // Higher in the world is higher on the screen, where y grows downwards.
        assert!(at([1.0, 3.0, -7.0, 1.0])[1] < 0.0);
    }
}
