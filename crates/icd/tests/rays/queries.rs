//! Ray queries.

use super::scene::*;

const DOWN: [f32; 3] = [0.0, 0.0, -1.0];
/// Above the layers of instance 0.
const ABOVE: Ray = Ray::new([0.25, 0.25, 5.0], DOWN);
/// Above those of instance 1: in their space at (0.25, 0.5, 10), with the direction (0, 0, -1).
const FAR_ABOVE: Ray = Ray::new([10.5, 1.0, 20.0], [0.0, 0.0, -2.0]);
/// Above the box.
const BOX: Ray = Ray::new([0.0, 20.0, 10.0], DOWN);

/// What is committed: its kind (1 a triangle, 2 a box), t, primitive, geometry, instance, custom index, offset of records, whether its
/// front is hit, and barycentrics.
type Hit = (u32, f32, [u32; 6], [f32; 2]);

const NONE: Option<Hit> = None;

fn layer(t: f32, z: u32, front: u32) -> Option<Hit> {
    Some((1, t, [z % 2, z / 2, 0, 0x12_3456, 0, front], [0.25, 0.25]))
}

#[test]
fn hits_are_those_worked_out_by_hand() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let ray = |flags: u32, confirm: u32| Ray { flags, own: [confirm, 0], ..ABOVE };
    let generate = |t: f32, flags: u32| Ray { own: [0, t.to_bits()], flags, ..BOX };
    let below = Ray { flags: OPAQUE, ..Ray::new([0.25, 0.25, -1.0], [0.0, 0.0, 1.0]) };
    // Candidates that triangles and boxes are, and what is committed.
    let rows: &[(&str, Ray, [u32; 2], Option<Hit>)] = &[
        ("all opaque", ray(OPAQUE, 0), [0, 0], layer(2.0, 3, 1)),
        ("none confirmed", ray(0, 0), [2, 0], layer(4.0, 1, 1)),
        ("one confirmed", ray(0, 1), [2, 0], layer(3.0, 2, 1)),
        ("both confirmed", ray(0, 3), [1, 0], layer(2.0, 3, 1)),
        ("opaque ones culled", ray(CULL_OPAQUE, 0), [2, 0], NONE),
        ("front faces culled", ray(OPAQUE | CULL_FRONT, 0), [0, 0], NONE),
        ("back faces culled", ray(OPAQUE | CULL_BACK, 0), [0, 0], layer(2.0, 3, 1)),
        ("from below", below, [0, 0], layer(1.0, 0, 0)),
        ("from below, culled", Ray { flags: OPAQUE | CULL_BACK, ..below }, [0, 0], NONE),
        ("another mask", Ray { mask: 6, ..ray(OPAQUE, 0) }, [0, 0], NONE),
        ("no mask", Ray { mask: 0, ..ray(OPAQUE, 0) }, [0, 0], NONE),
        ("too short", Ray { t_max: 1.5, ..ray(OPAQUE, 0) }, [0, 0], NONE),
        ("begins later", Ray { t_min: 2.5, ..ray(OPAQUE, 0) }, [0, 0], layer(3.0, 2, 1)),
        ("beside", Ray { origin: [0.75, 0.75, 5.0], ..ray(OPAQUE, 0) }, [0, 0], NONE),
        (
            "a larger one",
            Ray { flags: OPAQUE, ..FAR_ABOVE },
            [0, 0],
            Some((1, 7.0, [1, 1, 1, 7, 2, 1], [0.25, 0.5])),
        ),
        ("a box, hit", generate(9.5, 0), [0, 1], Some((2, 9.5, [0, 0, 2, 9, 4, 0], [0.0, 0.0]))),
        ("a box, not hit", generate(0.0, 0), [0, 1], NONE),
        ("a box, skipped", generate(9.5, SKIP_BOXES), [0, 0], NONE),
    ];
    let rays: Vec<Ray> = rows.iter().map(|r| r.1).collect();
    let got = rig.query(scene, &rays).expect("they run");
    for ((name, _, candidates, hit), got) in rows.iter().zip(&got) {
        assert_eq!(got[0], hit.map_or(0, |h| h.0), "{name}: {got:x?}");
        // Which of two candidates comes first is the traversal's choice: with both confirmed, the further one may come as well.
        let most = if *name == "both confirmed" { 2 } else { candidates[0] };
        assert!((candidates[0]..=most).contains(&got[1]), "{name}: {} candidates", got[1]);
        assert_eq!(got[2], candidates[1], "{name}");
        let Some((_, t, ids, barycentrics)) = hit else { continue };
        assert_eq!(f32::from_bits(got[3]), *t, "{name}");
        assert_eq!(got[4..10], *ids, "{name}");
        assert_eq!([10, 11].map(|k| f32::from_bits(got[k])), *barycentrics, "{name}");
    }
}

#[test]
fn a_query_knows_its_instances_space() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let got = rig.query(scene, &[Ray { flags: OPAQUE, ..FAR_ABOVE }]).expect("it runs");
    let floats: Vec<f32> = got[0][12..42].iter().map(|w| f32::from_bits(*w)).collect();
    assert_eq!(floats[..6], [0.25, 0.5, 10.0, 0.0, 0.0, -1.0], "the ray");
    // Columns.
    assert_eq!(floats[6..18], [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 10.0, 0.0, 0.0], "to the world");
    assert_eq!(floats[18..], [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, -5.0, 0.0, 0.0], "and back");
}

#[test]
fn a_query_ends_where_it_is_told_to() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let ends = |confirm: u32| Ray { own: [confirm | 1 << 31, 0], ..ABOVE };
    let got = rig.query(scene, &[ends(0), ends(3)]).expect("they run");
    assert_eq!((got[0][1], got[1][1]), (1, 1), "one candidate each");
    // The confirmed one is of the geometry that is not opaque.
    assert_eq!((got[1][0], got[1][5]), (1, 1));
}
