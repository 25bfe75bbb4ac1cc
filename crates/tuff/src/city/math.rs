//! Where the city's eyes are and look: x right, y down, z forward, which is Vulkan's view of things and no crate's.

use glam::{Mat3, Mat4, Vec3, Vec4};

/// A division: `Vec3::normalize` multiplies by the reciprocal, and the pictures would change.
pub fn normalized(a: Vec3) -> Vec3 {
    a / a.length()
}

/// Right, down and forward of an eye at `from` that looks at `to`.
pub fn axes(from: Vec3, to: Vec3) -> [Vec3; 3] {
    let forward = normalized(to - from);
    let right = normalized(forward.cross(Vec3::Y));
    [right, forward.cross(right), forward]
}

/// World to eye.
pub fn looking(from: Vec3, to: Vec3) -> Mat4 {
    let axes = axes(from, to);
    let [x, y, z] = axes.map(|a| -a.dot(from));
    let turned = Mat3::from_cols_array_2d(&axes.map(|a| a.to_array())).transpose();
    Mat4::from_mat3_translation(turned, Vec3::new(x, y, z))
}

/// Perspective with a vertical opening of `2 atan(half)`, depth 0 at `near` and 1 at `far`.
pub fn perspective(half: f32, aspect: f32, near: f32, far: f32) -> Mat4 {
    let depth = far / (far - near);
    Mat4::from_cols(
        Vec4::X / (half * aspect),
        Vec4::Y / half,
        Vec4::new(0.0, 0.0, depth, 1.0),
        Vec4::new(0.0, 0.0, -near * depth, 0.0),
    )
}

/// Parallel: `reach` to each side, depth 0 at the eye and 1 at `far`.
pub fn parallel(reach: f32, far: f32) -> Mat4 {
    Mat4::from_scale(Vec3::new(1.0 / reach, 1.0 / reach, 1.0 / far))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_view_is_what_is_looked_at() {
        let eye = looking(Vec3::new(3.0, 4.0, 5.0), Vec3::new(1.0, 2.0, -7.0));
        let m = perspective(0.5, 1.5, 0.1, 100.0) * eye;
        let middle = m * Vec4::new(1.0, 2.0, -7.0, 1.0);
        assert!(middle.x.abs() < 1e-4 && middle.y.abs() < 1e-4);
        let depth = middle.z / middle.w;
        assert!(depth > 0.0 && depth < 1.0);
        // Higher in the world is higher on the screen, where y grows downwards.
        assert!((m * Vec4::new(1.0, 3.0, -7.0, 1.0)).y < 0.0);
    }
}
