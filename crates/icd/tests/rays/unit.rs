//! Formats of vertices, and what a device without a ray tracing unit does not say.

use super::scene::*;
use crate::common;
use ash::vk;
use std::process::Command;

const CHILD: &str = "TUFF_TEST_CHILD_OF_RAYS";
const VERTEX: vk::FormatFeatureFlags2 = vk::FormatFeatureFlags2::ACCELERATION_STRUCTURE_VERTEX_BUFFER_KHR;

/// Formats whose vertices acceleration structures may be built of.
fn vertex_formats(i: &ash::Instance) -> Vec<vk::Format> {
    let extensions = [1_000_340_000, 1_000_156_000, 1_000_054_000, 1_000_470_000];
    let all = (1..=184).chain(extensions.iter().flat_map(|e| *e..e + 40)).map(vk::Format::from_raw);
    all.filter(|f| {
        let mut new = vk::FormatProperties3::default();
        let mut old = vk::FormatProperties2::default().push_next(&mut new);
        // SAFETY: handles are alive, structures outlive the call.
        unsafe {
            i.get_physical_device_format_properties2(common::physical_device(i), *f, &mut old);
        }
        let low = old.format_properties.buffer_features;
        let both = low.contains(vk::FormatFeatureFlags::ACCELERATION_STRUCTURE_VERTEX_BUFFER_KHR);
        assert_eq!(new.buffer_features.contains(VERTEX), both, "{f:?}");
        both
    })
    .collect()
}

/// Every format whose vertices are numbers that can say 0 and 1: the triangle (0, 0), (1, 0), (0, 1) is hit.
#[test]
fn vertices_of_all_formats_are_where_they_say() {
    use vk::Format as F;
    let rig = Rig::new();
    let reported = vertex_formats(&rig.gpu.instance);
    // Bytes of x (and of y after it) of one, and bytes of a vertex.
    let (f64s, f32s, f16s) = (1.0f64.to_le_bytes(), 1.0f32.to_le_bytes(), 0x3C00u16.to_le_bytes());
    let rows: [(F, &[u8], usize); 24] = [
        (F::R64G64_SFLOAT, &f64s, 16),
        (F::R64G64B64_SFLOAT, &f64s, 24),
        (F::R64G64B64A64_SFLOAT, &f64s, 32),
        (F::R32G32_SFLOAT, &f32s, 8),
        (F::R32G32B32_SFLOAT, &f32s, 12),
        (F::R32G32B32A32_SFLOAT, &f32s, 16),
        (F::R16G16_SFLOAT, &f16s, 4),
        (F::R16G16B16_SFLOAT, &f16s, 6),
        (F::R16G16B16A16_SFLOAT, &f16s, 8),
        (F::R16G16_SNORM, &[0xFF, 0x7F], 4),
        (F::R16G16B16_SNORM, &[0xFF, 0x7F], 6),
        (F::R16G16B16A16_SNORM, &[0xFF, 0x7F], 8),
        (F::R16G16_UNORM, &[0xFF, 0xFF], 4),
        (F::R16G16B16A16_UNORM, &[0xFF, 0xFF], 8),
        (F::R16G16_USCALED, &[1, 0], 4),
        (F::R16G16B16A16_SSCALED, &[1, 0], 8),
        (F::R8G8_SNORM, &[0x7F], 2),
        (F::R8G8B8_SNORM, &[0x7F], 3),
        (F::R8G8B8A8_SNORM, &[0x7F], 4),
        (F::R8G8_UNORM, &[0xFF], 2),
        (F::R8G8B8A8_UNORM, &[0xFF], 4),
        (F::R8G8B8A8_USCALED, &[1], 4),
        (F::R8G8B8A8_SSCALED, &[1], 4),
        (F::R8G8B8_UNORM, &[0xFF], 3),
    ];
    for (format, one, size) in rows {
        assert!(reported.contains(&format), "{format:?}");
        let mut bytes = vec![0u8; 4 * size];
        bytes[size..size + one.len()].copy_from_slice(one);
        bytes[2 * size + one.len()..2 * size + 2 * one.len()].copy_from_slice(one);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let mut g = triangles(rig.with(&words).address, 3, vk::GeometryFlagsKHR::OPAQUE);
        (g.geometry.triangles.vertex_format, g.geometry.triangles.vertex_stride) = (format, size as u64);
        let bottom = rig.build(Type::BOTTOM_LEVEL, Flags::empty(), &[g], &[1]);
        let top = rig.top(Flags::empty(), &[of(IDENTITY, 0, 0xFF, 0, rig.address(&bottom))]);
        let rays = [[0.75, 0.125], [0.125, 0.75], [0.75, 0.75]];
        let rays = rays.map(|[x, y]| Ray::new([x, y, 1.0], [0.0, 0.0, -1.0]));
        let got = rig.query(rig.address(&top), &rays).expect("they run");
        let kinds: Vec<u32> = got.iter().map(|g| g[0]).collect();
        assert_eq!((kinds, f32::from_bits(got[0][3])), (vec![1, 1, 0], 1.0), "{format:?}");
    }
    // And no others than those that are read as floats.
    for none in [F::R32G32B32_UINT, F::R8G8_SINT, F::R8G8B8A8_SRGB, F::R32_SFLOAT, F::D32_SFLOAT] {
        assert!(!reported.contains(&none), "{none:?}");
    }
    for packed in [F::A2B10G10R10_UNORM_PACK32, F::A2B10G10R10_SNORM_PACK32, F::B8G8R8A8_UNORM] {
        assert!(reported.contains(&packed), "{packed:?}");
    }
}

/// Not a test of its own: what runs with a model without the unit.
#[test]
fn child() {
    let Some(rays) = std::env::var_os(CHILD) else { return };
    let allowed = rays == "allowed";
    let i = common::instance(&[]);
    let p = common::physical_device(&i);
    let mut said = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
    let mut features = vk::PhysicalDeviceOpacityMicromapFeaturesEXT::default();
    // SAFETY: handles are alive, structures outlive the calls.
    let names = unsafe {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut said);
        i.get_physical_device_properties2(p, &mut all);
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        i.get_physical_device_features2(p, &mut all);
        i.enumerate_device_extension_properties(p).expect("a list")
    };
    let of_rays = ["ray_", "acceleration_structure", "micromap", "library_group_handles"];
    let names = names.iter().filter_map(|n| n.extension_name_as_c_str().ok()?.to_str().ok());
    let found: Vec<&str> = names.filter(|n| of_rays.iter().any(|r| n.contains(r))).collect();
    assert_eq!(found.len(), if allowed { 9 } else { 0 }, "{found:?}");
    assert_eq!(said.max_instance_count, if allowed { 1 << 24 } else { 0 });
    assert_eq!(features.micromap, allowed as u32);
    assert_eq!(vertex_formats(&i).is_empty(), !allowed);
    // SAFETY: the instance is alive.
    unsafe { i.destroy_instance(None) };
}

#[test]
fn a_model_without_the_unit_says_nothing_of_rays() {
    let me = std::env::current_exe().expect("this program");
    for (name, setting) in [("not allowed", None), ("allowed", Some("1"))] {
        let mut child = Command::new(&me);
        child.args(["--exact", "rays::unit::child", "--test-threads=1"]).env("TUFF_GPU", "g57");
        child.env(CHILD, name).env_remove("TUFF_RAYS");
        if let Some(setting) = setting {
            child.env("TUFF_RAYS", setting);
        }
        let out = child.output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && text.contains("1 passed"), "{name}: {text}");
    }
}
