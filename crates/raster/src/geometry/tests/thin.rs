//! Lines and points.

use super::*;
use crate::prim::Shape;
use bresenham::walk;
use random::Random;
use vk::LineRasterizationModeEXT as Mode;
use vk::PrimitiveTopology as T;

/// Pixels of a Bresenham line between pixel coordinates.
fn line(a: [f32; 2], b: [f32; 2]) -> Vec<[i32; 2]> {
    let mut out = Vec::new();
    walk(a.map(|c| (c * 256.0) as i32), b.map(|c| (c * 256.0) as i32), |p| out.push(p));
    out
}

#[test]
fn bresenham_by_hand() {
    // Between centres: half open.
    assert_eq!(line([0.5, 0.5], [3.5, 0.5]), [[0, 0], [1, 0], [2, 0]]);
    assert_eq!(line([3.5, 0.5], [0.5, 0.5]), [[3, 0], [2, 0], [1, 0]]);
    assert_eq!(line([0.5, 0.5], [3.5, 3.5]), [[0, 0], [1, 1], [2, 2]]);
    assert_eq!(line([0.5, 3.5], [0.5, 0.5]), [[0, 3], [0, 2], [0, 1]]);
    // Ends in the diamond that it starts in.
    assert_eq!(line([0.4, 0.5], [0.6, 0.5]), [[0; 2]; 0]);
    // Starts beyond the centre, but inside the diamond; ends beyond a centre, inside the diamond.
    assert_eq!(line([0.75, 0.5], [2.75, 0.5]), [[0, 0], [1, 0]]);
    // Starts outside of the diamond, ends outside: leaves that of pixel 2.
    assert_eq!(line([0.9, 0.2], [2.9, 0.2]), [[1, 0], [2, 0]]);
    // Ends before the diamond of pixel 2.
    assert_eq!(line([0.5, 0.25], [2.125, 0.25]), [[0, 0], [1, 0]]);
    // Along a boundary of pixels: the upper ones (smaller y).
    assert_eq!(line([0.0, 1.0], [2.0, 1.0]), [[0, 0], [1, 0]]);
}

#[test]
fn chains_of_bresenham_lines_have_no_doubles_and_no_gaps() {
    let mut r = Random::new(3);
    let mut random = || (r.u32() >> 20) as i32;
    for _ in 0..300 {
        // All x-major, left to right.
        let mut p = [random(), 20000 + random()];
        let mut all: Vec<[i32; 2]> = Vec::new();
        for _ in 0..6 {
            let dx = random() + 1;
            let q = [p[0] + dx, p[1] + random() % (2 * dx + 1) - dx];
            walk(p, q, |p| all.push(p));
            p = q;
        }
        for w in all.windows(2) {
            assert_eq!(w[1][0], w[0][0] + 1, "one pixel a column");
            assert!((w[1][1] - w[0][1]).abs() <= 1, "connected: {w:?}");
        }
    }
}

fn lines(v: &[[f32; 5]], mode: Mode) -> Scene {
    let mut s = Scene::new(T::LINE_LIST, v);
    s.state.raster.line_mode = mode;
    s
}

#[test]
fn rectangles_of_lines() {
    let v = [at(10.0, 20.5, 0.0, 0.0), at(20.0, 20.5, 0.5, 10.0)];
    let mut s = lines(&v, Mode::DEFAULT);
    let b = s.run();
    assert_eq!(pixels_of(&b), (10..20).map(|x| (x, 20)).collect::<Vec<_>>());
    let p = &b.prims[0];
    assert_eq!((p.form.shape(), p.form.edges()), (Shape::Polygon, 4));
    assert_eq!(value(p, &b.planes[0], 15.5, 20.5), 5.5);
    assert_eq!(value(p, &p.z, 12.0, 25.0), 0.1);
    s.state.raster.line_width = 5.0;
    assert_eq!(pixels_of(&s.run()).len(), 50);
    // Diagonal: a strip of width √2 · w in each column.
    let v = [at(100.0, 100.0, 0.0, 0.0), at(140.0, 140.0, 0.0, 0.0)];
    let mut s = lines(&v, Mode::RECTANGULAR);
    s.state.raster.line_width = 10.0;
    let sharp = s.run();
    let c = counts(&sharp);
    let column: u32 = (0..256).map(|y| c[y][120]).sum();
    assert!((14..=15).contains(&column), "{column}");
    // A smooth line's coverage is that of the same rectangle (§ Smooth Lines).
    s.state.raster.line_mode = Mode::RECTANGULAR_SMOOTH;
    let b = s.run();
    assert_eq!(b.prims[0].form.shape(), Shape::Smooth);
    assert_eq!(b.edges, sharp.edges);
    // Nothing to draw.
    let v = [at(10.0, 20.5, 0.0, 0.0); 2];
    assert_eq!(lines(&v, Mode::DEFAULT).run().prims.len(), 0);
}

#[test]
fn wide_bresenham_lines() {
    let v = [at(10.5, 20.5, 0.0, 0.0), at(14.5, 20.5, 0.0, 0.0)];
    let mut s = lines(&v, Mode::BRESENHAM);
    s.state.raster.line_width = 3.0;
    let b = s.run();
    assert_eq!(b.prims[0].form.shape(), Shape::Pixels);
    let p = pixels_of(&b);
    assert_eq!(p.len(), 12);
    assert!(p.iter().all(|&(x, y)| (10..14).contains(&x) && (19..22).contains(&y)));
}

#[test]
fn stipple_goes_on_through_strips_only() {
    // Two units on, two off.
    for mode in [Mode::BRESENHAM, Mode::RECTANGULAR] {
        let v = [10.5, 13.5, 18.5].map(|x| at(x, 20.5, 0.0, 0.0));
        let mut s = Scene::new(T::LINE_STRIP, &v);
        s.state.raster.line_mode = mode;
        s.state.raster.stipple = Some((2, 0x5555));
        let x: Vec<i32> = pixels_of(&s.run()).iter().map(|p| p.0).collect();
        assert_eq!(x, [10, 11, 14, 15], "{mode:?}");
        let v = [10.5, 13.5, 13.5, 18.5].map(|x| at(x, 20.5, 0.0, 0.0));
        s.vertex_buffers = Scene::new(T::LINE_LIST, &v).vertex_buffers;
        s.state.topology = T::LINE_LIST;
        s.call.count = 4;
        let x: Vec<i32> = pixels_of(&s.run()).iter().map(|p| p.0).collect();
        assert_eq!(x, [10, 11, 13, 14, 17], "{mode:?}");
    }
}

#[test]
fn lines_are_clipped() {
    let v = [at(-50.0, 20.5, 0.5, 0.0), at(50.0, 20.5, 0.5, 1.0)];
    let b = lines(&v, Mode::DEFAULT).run();
    assert_eq!(pixels_of(&b), (0..50).map(|x| (x, 20)).collect::<Vec<_>>());
    let v = [at(10.0, 20.5, -0.5, 0.0), at(50.0, 20.5, 0.5, 1.0)];
    let b = lines(&v, Mode::DEFAULT).run();
    assert_eq!(pixels_of(&b), (30..50).map(|x| (x, 20)).collect::<Vec<_>>());
    assert_eq!(value(&b.prims[0], &b.planes[0], 40.0, 20.5), 0.75);
}

#[test]
fn points() {
    let v = [at(10.5, 20.5, 0.25, 4.0)];
    let mut s = Scene::new(T::POINT_LIST, &v);
    assert_eq!(pixels_of(&s.run()), [(10, 20)]);
    s.slots.push((Input::Varying(4), interface::POINT_SIZE));
    let b = s.run();
    let p = &b.prims[0];
    // 8.5 to 12.5: left and top sides run through centres that are in.
    assert_eq!(p.bounds.rect(), Rect { x0: 8, y0: 18, x1: 12, y1: 22 });
    assert_eq!(pixels_of(&b).len(), 16);
    assert!(!p.side.point());
    assert_eq!(b.planes, [Plane { at: 4.0, dx: 0.0, dy: 0.0 }]);
    // PointCoord's planes come after them, for programs that read it.
    s.point_coord = true;
    let b = s.run();
    let p = &b.prims[0];
    assert!(p.side.point() && b.planes.len() == 3);
    assert_eq!(value(p, &b.planes[1], 8.5, 20.5), 0.0);
    assert_eq!(value(p, &b.planes[2], 10.5, 21.5), 0.75);
    // Half outside but its centre inside: whole; centre outside: gone.
    let v = [at(0.0, 20.5, 0.25, 4.0), at(-0.5, 30.5, 0.25, 4.0)];
    s.vertex_buffers = Scene::new(T::POINT_LIST, &v).vertex_buffers;
    s.call.count = 2;
    let b = s.run();
    assert_eq!((b.prims.len(), pixels_of(&b).len()), (1, 8));
}
