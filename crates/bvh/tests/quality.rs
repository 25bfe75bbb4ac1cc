//! What a structure is like, worked out by hand for small ones.

mod support;

use bvh::*;
use support::*;

/// Instances of a box from (0, 0, 0) to (1, 1, 1), moved along x.
fn unit_boxes(at: &[f32]) -> Memory {
    let of = |x: &f32| Instance {
        transform: [1.0, 0.0, 0.0, *x, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        custom_index: 0,
        mask: 0xFF,
        sbt_offset: 0,
        flags: 0,
        structure: if *x < 1.0 { 256 } else { 512 },
        bounds: [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        all: 0,
    };
    structure(&Input::Instances(&at.iter().map(of).collect::<Vec<_>>()), Flags(0))
}

fn quality(of: &Memory) -> Statistics {
    statistics(of.bytes()).expect("a structure")
}

/// The surface of a box is told by half of it: xy + yz + zx, which is 3 for a unit box. A row from 0 to w has 2 w + 1.
#[test]
fn costs_and_overlap_are_those_worked_out_by_hand() {
    // Places, then the sum of the leaves' surfaces over the root's, and the surface that pairs have in common over that sum.
    let eight = [0.0; 8];
    for (at, leaf_cost, overlap) in [
        (&[0.0][..], 3.0 / 3.0, 0.0),
        // Two that are apart: a root of 7.
        (&[0.0, 2.0], 6.0 / 7.0, 0.0),
        // Two equal ones.
        (&[0.0, 0.0], 6.0 / 3.0, 3.0 / 6.0),
        // Two that share half: a root of 4, and a common box of 0.5 × 1 × 1 with 2.
        (&[0.0, 0.5], 6.0 / 4.0, 2.0 / 6.0),
        // Eight equal ones have 28 pairs.
        (&eight, 24.0 / 3.0, 28.0 * 3.0 / 24.0),
    ] {
        let s = quality(&unit_boxes(at));
        let n = at.len() as u64;
        assert_eq!((s.nodes, s.leaves, s.primitives, s.depth), (1, n, n, 1), "{at:?}");
        assert_eq!(s.node_cost, 1.0, "{at:?}");
        // Boxes of nodes are rounded outward, to steps of at most 1/127 of the root.
        for (told, want) in [(s.leaf_cost, leaf_cost), (s.overlap, overlap)] {
            assert!((told - want).abs() <= 0.04 * want, "{at:?}: {told}, not {want}: {s:?}");
        }
    }
    // Two heaps of eight that are apart: a root of 7 above two nodes of 3.
    let heaps = [[0.0; 8], [2.0; 8]].concat();
    let s = quality(&unit_boxes(&heaps));
    assert_eq!((s.nodes, s.leaves, s.depth), (3, 16, 2));
    assert!((s.node_cost - 13.0 / 7.0).abs() < 0.06 && (s.leaf_cost - 48.0 / 7.0).abs() < 0.28, "{s:?}");
    // The nodes' overlap of 3.5 each, and none in the root.
    assert!((s.overlap - 7.0 / 3.0).abs() < 0.05, "{s:?}");
}

/// Up to four primitives share a leaf, whose box is then the root's.
#[test]
fn a_leaf_is_visited_by_all_that_meet_it() {
    let boxes = [[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 3.0, 1.0, 1.0]];
    let boxes = [Geometry::Boxes { bounds: &boxes, flags: 0 }];
    let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    // Flat: the surface is that of one side, 1 · 1.
    let triangles = [Geometry::Triangles { positions: &triangle, flags: 0 }];
    for (input, n) in [(&boxes, 2), (&triangles, 1)] {
        let s = quality(&structure(&Input::Geometries(input), Flags(0)));
        assert_eq!((s.nodes, s.leaves, s.primitives, s.depth), (1, 1, n, 1));
        assert_eq!((s.node_cost, s.overlap), (1.0, 0.0));
        assert!((s.leaf_cost - 1.0).abs() < 0.02, "{s:?}");
    }
    let nothing = quality(&structure(&Input::Geometries(&[]), Flags(0)));
    assert_eq!((nothing.primitives, nothing.leaf_cost, nothing.overlap), (0, 0.0, 0.0));
}

#[test]
fn a_top_structure_names_the_structures_of_its_instances() {
    let top = unit_boxes(&[0.0, 0.5, 2.0]);
    assert_eq!(Vec::from_iter(bottoms(top.bytes())), [(256, 2), (512, 1)]);
    let triangle = [[0.0; 3]; 3];
    let bottom =
        structure(&Input::Geometries(&[Geometry::Triangles { positions: &triangle, flags: 0 }]), Flags(0));
    assert!(bottoms(bottom.bytes()).is_empty());
}
