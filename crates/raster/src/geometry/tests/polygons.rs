//! Triangles: the top-left rule, clipping, culling, bias, order, bins.

use super::*;
use bin::{Bins, COVERS};
use random::Random;
use vk::PrimitiveTopology as T;

#[test]
fn samples_on_edges_belong_to_left_and_top() {
    // Centres on the hypotenuse x + y = 4 (pixels with i + j = 3) belong to the triangle at its right.
    let left = [at(0.0, 0.0, 0.0, 0.0), at(4.0, 0.0, 0.0, 0.0), at(0.0, 4.0, 0.0, 0.0)];
    let right = [at(4.0, 0.0, 0.0, 0.0), at(4.0, 4.0, 0.0, 0.0), at(0.0, 4.0, 0.0, 0.0)];
    let b = Scene::new(T::TRIANGLE_LIST, &left).run();
    assert_eq!(pixels_of(&b), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)]);
    let b = Scene::new(T::TRIANGLE_LIST, &right).run();
    assert_eq!(pixels_of(&b).len(), 10);
    // The same whichever way round.
    let b = Scene::new(T::TRIANGLE_LIST, &[right[2], right[1], right[0]]).run();
    assert_eq!(pixels_of(&b).len(), 10);
    // A rectangle whose edges run through centres: left and top in, right and bottom out.
    let quad = [(0.5, 0.5), (3.5, 0.5), (0.5, 3.5), (3.5, 3.5)].map(|(x, y)| at(x, y, 0.0, 0.0));
    let b = Scene::new(T::TRIANGLE_STRIP, &quad).run();
    let c = counts(&b);
    for y in 0..5 {
        for x in 0..5 {
            assert_eq!(c[y][x], (x < 3 && y < 3) as u32, "{x} {y}");
        }
    }
}

#[test]
fn a_fan_covers_every_pixel_once() {
    // Eight triangles around a crooked centre.
    let mut v = vec![at(100.3, 99.7, 0.0, 0.0)];
    for i in 0..9 {
        let a = i as f32 * std::f32::consts::FRAC_PI_4;
        v.push(at(100.0 + 90.0 * a.cos(), 100.0 + 90.0 * a.sin(), 0.0, 0.0));
    }
    let (first, n) = (v[1], v.len());
    v[n - 1] = first;
    let b = Scene::new(T::TRIANGLE_FAN, &v).run();
    assert_eq!(b.prims.len(), 8);
    let c = counts(&b);
    assert!(c.iter().flatten().all(|&n| n <= 1));
    assert_eq!(c[100][20..180], [1; 160]);
    assert!(b.prims.iter().all(|p| p.side.front()));
}

#[test]
fn culling_and_facing() {
    // Clockwise on the screen (y downward).
    let v = [at(10.0, 10.0, 0.0, 0.0), at(20.0, 10.0, 0.0, 0.0), at(10.0, 20.0, 0.0, 0.0)];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    assert!(s.run().prims[0].side.front());
    s.state.raster.cull = vk::CullModeFlags::FRONT;
    assert_eq!(s.run().prims.len(), 0);
    s.state.raster.front = vk::FrontFace::COUNTER_CLOCKWISE;
    assert!(!s.run().prims[0].side.front());
    s.state.raster.cull = vk::CullModeFlags::BACK;
    assert_eq!(s.run().prims.len(), 0);
    // A negative viewport height turns everything over.
    s.state.viewports[0].y = 256.0;
    s.state.viewports[0].height = -256.0;
    let b = s.run();
    assert!(b.prims[0].side.front());
    assert_eq!(b.prims[0].bounds.rect(), Rect { x0: 10, y0: 236, x1: 20, y1: 246 });
    // No area, nothing to see.
    let flat = [at(10.0, 10.0, 0.0, 0.0), at(20.0, 20.0, 0.0, 0.0), at(30.0, 30.0, 0.0, 0.0)];
    assert_eq!(Scene::new(T::TRIANGLE_LIST, &flat).run().prims.len(), 0);
}

#[test]
fn planes_are_exact() {
    let v = [at(0.0, 0.0, 0.25, 1.0), at(128.0, 0.0, 0.25, 3.0), at(0.0, 128.0, 0.5, 1.0)];
    let b = Scene::new(T::TRIANGLE_LIST, &v).run();
    let p = &b.prims[0];
    assert_eq!((p.origin(), p.planes), ([0.0, 0.0], 0));
    assert_eq!(p.z, Plane { at: 0.25, dx: 0.0, dy: 0.25 / 128.0 });
    assert_eq!(p.w, Plane { at: 1.0, dx: 0.0, dy: 0.0 });
    assert_eq!(b.planes, [Plane { at: 1.0, dx: 2.0 / 128.0, dy: 0.0 }]);
}

#[test]
fn perspective_and_linear() {
    // w = 2 at the second vertex.
    let mut v = [at(0.0, 0.0, 0.0, 4.0), at(128.0, 0.0, 0.0, 8.0), at(0.0, 128.0, 0.0, 4.0)];
    v[1] = [0.0, -2.0, 0.0, 2.0, 8.0];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    s.varyings.push(interface::Varying { no_perspective: true, ..varying(0) });
    let b = s.run();
    assert_eq!(b.prims[0].w, Plane { at: 1.0, dx: -0.5 / 128.0, dy: 0.0 });
    // value / w is 4 at both ends.
    assert_eq!(b.planes[0], Plane { at: 4.0, dx: 0.0, dy: 0.0 });
    assert_eq!(b.planes[1], Plane { at: 4.0, dx: 4.0 / 128.0, dy: 0.0 });
}

#[test]
fn near_clipping_cuts_and_interpolates() {
    // The far left vertex lies as far before the near plane as the others behind it: half of each edge is left.
    let v = [at(0.0, 64.0, -0.5, 0.0), at(128.0, 0.0, 0.5, 1.0), at(128.0, 128.0, 0.5, 1.0)];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    let b = s.run();
    assert_eq!(b.prims.len(), 2, "a trapezium");
    let c = counts(&b);
    for y in 0..129 {
        for x in 0..129 {
            let (fx, fy) = (x as f32 + 0.5, y as f32 + 0.5);
            let inside = (64.0..128.0).contains(&fx) && (fy - 64.0).abs() < fx / 2.0;
            let edge = ((fy - 64.0).abs() - fx / 2.0).abs() < 0.01;
            assert!(c[y][x] == inside as u32 || edge && c[y][x] <= 1, "{x} {y}");
        }
    }
    for p in &b.prims {
        let z = value(p, &p.z, 96.0, 64.0);
        assert!((z - 0.25).abs() < 1e-5, "{z}");
        let f = value(p, &b.planes[p.planes as usize], 96.0, 64.0);
        assert!((f - 0.75).abs() < 1e-5, "{f}");
    }
    // Without depth clipping it stays whole.
    s.state.raster.depth_clip = false;
    assert_eq!(s.run().prims.len(), 1);
    // All before the near plane.
    let v = v.map(|[x, y, _, w, f]| [x, y, -0.1, w, f]);
    let b = Scene::new(T::TRIANGLE_LIST, &v).run();
    assert_eq!((b.prims.len(), b.counts.events[Event::ClippingPrimitives]), (0, 0));
    assert_eq!(b.counts.events[Event::ClippingInvocations], 1);
}

#[test]
fn vertices_behind_the_eye() {
    // w = −1 at one vertex: what is left lies within the viewport, on the right side.
    let v = [[0.0, 0.0, 0.5, 1.0, 1.0], [0.5, 0.0, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, -1.0, 1.0]];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    s.state.raster.depth_clip = false;
    let b = s.run();
    assert!(!b.prims.is_empty());
    for p in &b.prims {
        assert!(p.bounds.rect().y0 >= 127 && p.bounds.rect().x0 >= 127, "{:?}", p.bounds);
        for e in &p.edges(&b.edges)[..3] {
            assert!(e.a.abs() <= 1 << 23 && e.b.abs() <= 1 << 23);
        }
    }
    // Far outside on all sides: everything covered exactly once.
    let v = [[-1e6, -1e6, 0.5, 1.0, 0.0], [1e7, -1e6, 0.5, 1.0, 0.0], [-1e6, 1e7, 0.5, 1.0, 0.0]];
    let b = Scene::new(T::TRIANGLE_LIST, &v).run();
    assert!(counts(&b).iter().flatten().all(|&n| n == 1));
    // Not numbers, and infinities: no picture, no panic.
    for bad in [f32::NAN, f32::INFINITY] {
        let v = [[bad, 0.0, 0.5, 1.0, 0.0], [1.0, 0.0, 0.5, 1.0, 0.0], [0.0, 1.0, 0.5, 1.0, 0.0]];
        assert_eq!(Scene::new(T::TRIANGLE_LIST, &v).run().prims.len(), 0);
    }
}

#[test]
fn clip_and_cull_distances() {
    let v = [at(0.0, 0.0, 0.0, -1.0), at(128.0, 0.0, 0.0, 1.0), at(0.0, 128.0, 0.0, -1.0)];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    s.slots.push((Input::Varying(4), interface::CLIP_DISTANCE));
    let c = counts(&s.run());
    // Distance −1 + x / 64.
    assert_eq!(c[10][60..70], [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    s.slots[5].1 = interface::CULL_DISTANCE;
    assert_eq!(s.run().prims.len(), 1, "one vertex is inside");
    let v = v.map(|[x, y, z, w, _]| [x, y, z, w, -1.0]);
    s.vertex_buffers = Scene::new(T::TRIANGLE_LIST, &v).vertex_buffers;
    assert_eq!(s.run().prims.len(), 0);
}

#[test]
fn fractional_viewports_cut_exactly() {
    let v = [at(-300.0, -300.0, 0.0, 0.0), at(900.0, -300.0, 0.0, 0.0), at(-300.0, 900.0, 0.0, 0.0)];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    let view = &mut s.state.viewports[0];
    (view.x, view.y, view.width, view.height) = (10.25, 20.75, 30.0, 30.0);
    let c = counts(&s.run());
    for y in 0..100 {
        for x in 0..100 {
            // Centres from 10.25 to 40.25, 20.75 to 50.75.
            assert_eq!(c[y][x], ((10..40).contains(&x) && (21..51).contains(&y)) as u32, "{x} {y}");
        }
    }
}

#[test]
fn depth_bias_by_format() {
    // Slope 0.5 / 128 in y.
    let v = [at(0.0, 0.0, 0.5, 0.0), at(128.0, 0.0, 0.5, 0.0), at(0.0, 128.0, 1.0, 0.0)];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    let mut z = |depth: vk::Format, b: DepthBias| {
        s.depth = depth;
        s.state.raster.depth_bias = Some(b);
        s.run().prims[0].z.at
    };
    use vk::DepthBiasRepresentationEXT as R;
    let b = DepthBias {
        constant: 2.0,
        clamp: 0.0,
        slope: 0.0,
        representation: R::LEAST_REPRESENTABLE_VALUE_FORMAT,
        exact: false,
    };
    // Twice r: 2 · 2⁻ⁿ, or 2⁻ⁿ where exactly that is asked for.
    let exact = DepthBias { exact: true, ..b };
    for (format, n) in [
        (vk::Format::D16_UNORM, 16),
        (vk::Format::X8_D24_UNORM_PACK32, 24),
        (vk::Format::D24_UNORM_S8_UINT, 24),
    ] {
        let place = 1.0 / (1u32 << n) as f32;
        assert_eq!(z(format, b), 0.5 + 4.0 * place, "{format:?}");
        assert_eq!(z(format, exact), 0.5 + 2.0 * place, "{format:?}");
        let unorm = R::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM;
        assert_eq!(z(format, DepthBias { representation: unorm, ..b }), 0.5 + 4.0 * place, "{format:?}");
        assert_eq!(z(format, DepthBias { representation: unorm, ..exact }), 0.5 + 2.0 * place, "{format:?}");
    }
    // The largest depth is 1: exponent 0, so 2^−23.
    assert_eq!(z(vk::Format::D32_SFLOAT, b), 0.5 + 2.0 / 8388608.0);
    assert_eq!(z(vk::Format::D32_SFLOAT_S8_UINT, b), 0.5 + 2.0 / 8388608.0);
    let unorm = DepthBias { representation: R::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM, ..b };
    assert_eq!(z(vk::Format::D32_SFLOAT, unorm), 0.5 + 2.0 / 16777216.0);
    let float = DepthBias { representation: R::FLOAT, constant: 0.125, ..b };
    assert_eq!(z(vk::Format::D16_UNORM, float), 0.625);
    let slope = DepthBias { constant: 0.0, slope: 32.0, ..b };
    assert_eq!(z(vk::Format::D16_UNORM, slope), 0.625);
    assert_eq!(z(vk::Format::D16_UNORM, DepthBias { clamp: 0.0625, ..slope }), 0.5625);
    assert_eq!(z(vk::Format::D16_UNORM, DepthBias { slope: -32.0, clamp: -0.0625, ..slope }), 0.4375);
}

#[test]
fn polygon_modes() {
    let v = [at(10.5, 10.5, 0.0, 1.0), at(20.5, 10.5, 0.0, 2.0), at(10.5, 20.5, 0.0, 3.0)];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    s.state.raster.polygon_mode = vk::PolygonMode::POINT;
    assert_eq!(pixels_of(&s.run()), [(10, 10), (20, 10), (10, 20)]);
    s.state.raster.polygon_mode = vk::PolygonMode::LINE;
    s.state.raster.line_mode = vk::LineRasterizationModeEXT::BRESENHAM;
    let b = s.run();
    assert_eq!(b.prims.len(), 3);
    let p = pixels_of(&b);
    assert_eq!(p.len(), 30, "closed, each corner once");
    assert!(p.contains(&(15, 10)) && p.contains(&(10, 15)) && p.contains(&(15, 15)));
    s.state.raster.cull = vk::CullModeFlags::FRONT;
    assert_eq!(s.run().prims.len(), 0);
}

#[test]
fn layers_and_viewports_of_the_provoking_vertex() {
    let bits = f32::from_bits;
    let v = [at(0.0, 0.0, 0.0, bits(1)), at(64.0, 0.0, 0.0, bits(0)), at(0.0, 64.0, 0.0, bits(0))];
    let mut s = Scene::new(T::TRIANGLE_LIST, &v);
    s.slots.push((Input::Varying(4), interface::LAYER));
    s.layers = 2;
    assert_eq!(s.run().prims[0].layer, 1);
    s.layers = 1;
    assert_eq!(s.run().prims[0].layer, 0, "no such layer: the last");
    s.slots[5].1 = interface::VIEWPORT_INDEX;
    let second = Viewport { x: 128.0, ..s.state.viewports[0] };
    s.state.viewports.push(second);
    s.state.scissors.push(AREA);
    let b = s.run();
    assert_eq!(
        (b.prims[0].side.viewport(), b.prims[0].bounds.rect()),
        (1, Rect { x0: 128, y0: 0, x1: 192, y1: 64 })
    );
}

/// Many triangles, some of them clipped, most overlapping several tiles.
fn crowd(n: usize) -> Vec<[f32; 5]> {
    let mut r = Random::new(7);
    let mut random = || r.unit();
    (0..n * 3)
        .map(|_| {
            [random() * 3.0 - 1.5, random() * 3.0 - 1.5, random() * 1.5 - 0.25, 0.5 + random(), random()]
        })
        .collect()
}

#[test]
fn the_same_at_any_thread_count() {
    let same = |s: &mut Scene| {
        let one = s.run();
        s.threads = 4;
        let four = s.run();
        s.threads = 1;
        assert_eq!(one.counts, four.counts);
        assert_eq!(one.prims.len(), four.prims.len());
        let all = |p: &Prim| (p.corners, p.bounds, p.z, p.w, p.planes);
        assert!(one.prims.iter().map(all).eq(four.prims.iter().map(all)));
        assert_eq!(one.planes, four.planes);
        assert_eq!(one.pixels, four.pixels);
        assert_eq!(one.edges, four.edges);
        one
    };
    let mut s = Scene::new(T::TRIANGLE_LIST, &crowd(9000));
    let b = same(&mut s);
    assert_eq!(
        (b.counts.events[Event::InputVertices], b.counts.events[Event::VertexInvocations]),
        (27000, 27000)
    );
    // Clipping makes more triangles than there were: more than room was made for.
    s.vertex_buffers = Scene::new(
        T::TRIANGLE_LIST,
        &crowd(9000)
            .into_iter()
            .map(|v| [v[0] * 3.0, v[1] * 3.0, 0.5 * v[3], v[3], v[4]])
            .collect::<Vec<_>>(),
    )
    .vertex_buffers;
    s.state.viewports[0].x = 0.25;
    assert!(same(&mut s).prims.len() > 9000);
    s.state.topology = T::LINE_LIST;
    s.state.raster.line_mode = vk::LineRasterizationModeEXT::BRESENHAM;
    assert!(!same(&mut s).pixels.is_empty());
}

/// Triangles and points are those of portable code.
pub(crate) fn every_level_gives_the_same_bits(level: simd::Level) {
    for topology in [T::TRIANGLE_LIST, T::POINT_LIST] {
        let s = Scene::new(topology, &crowd(500));
        let run = |level: simd::Level| {
            let mut shared = Shared::new(Arc::new(|m: &str| panic!("{m}")), true).unwrap();
            shared.level = level;
            s.run_on(&shared)
        };
        let [b, portable] = [level, simd::Level::PORTABLE].map(run);
        assert!(b.prims.len() > 50, "{} of {topology:?}", b.prims.len());
        assert_eq!(b.planes, portable.planes);
        let all = |b: &Batch| b.prims.iter().map(|p| (p.corners, p.z, p.w, p.bounds)).collect::<Vec<_>>();
        assert_eq!(all(&b), all(&portable));
    }
}

#[test]
fn bins_list_what_tiles_see() {
    let s = Scene::new(T::TRIANGLE_LIST, &crowd(300));
    let b = s.run();
    let shared = &Shared::new(Arc::new(|_: &str| {}), true).unwrap();
    let area = Rect { x0: 0, y0: 0, x1: 250, y1: 256 };
    let tiles = bin::Tiles::new(area, Default::default(), 1, None);
    let bins = Bins::new(shared, &b, 0..b.prims.len(), area, tiles).expect("room");
    // Of a part: those of the whole that are in it.
    let list = |b: &Bins, x, y| b.lists(0, x, y).flatten().copied().collect::<Vec<_>>();
    assert!(bins.lists(1, 0, 0).next().is_none(), "a layer that others of the pass have");
    let part = Bins::new(shared, &b, 100..200, area, tiles).expect("room");
    for (x, y) in (0..16).map(|i| (i % 4, i / 4)) {
        let wanted = list(&bins, x, y).into_iter().filter(|e| (100..200).contains(&bin::index(*e)));
        assert!(list(&part, x, y).into_iter().eq(wanted));
    }
    assert_eq!((bins.width, bins.height), (4, 4));
    let (mut listed, mut needed, mut full) = (0, 0, 0);
    for ty in 0..4 {
        for tx in 0..4 {
            let list = list(&bins, tx, ty);
            assert!(list.windows(2).all(|w| bin::index(w[0]) < bin::index(w[1])));
            for (i, p) in b.prims.iter().enumerate() {
                let mut seen = 0;
                let mut all = true;
                for y in ty as i32 * 64..ty as i32 * 64 + 64 {
                    for x in tx as i32 * 64..(tx as i32 * 64 + 64).min(area.x1) {
                        let c = covers(&b, p, x, y);
                        seen += c as u32;
                        all &= c;
                    }
                }
                let entry = list.iter().find(|e| bin::index(**e) as usize == i);
                assert!(seen == 0 || entry.is_some());
                let covered = entry.is_some_and(|e| e & COVERS != 0);
                assert!(!covered || all);
                listed += entry.is_some() as u32;
                needed += (seen > 0) as u32;
                full += covered as u32;
            }
        }
    }
    assert!(listed < needed + needed / 8, "{listed} entries for {needed}");
    assert!(full > 0);
}
