use super::Rule;
use crate::advise::case::{Change, fragments, part, primitives, vertices, with_draws};
use crate::advise::{Case, Item};
use counters::{Counts, Event};

pub const RULE: Rule = Rule {
    id: "tiny-triangles",
    title: "Triangles cover only a few pixels",
    threshold: "a draw has at least 1000 triangles that face the camera in view, and they cover fewer than 10 pixels each on average",
    why: "Each triangle has a cost in the tiler and in the tiles, whatever its size. Fragments are shaded by quads of 2 × 2 pixels: of a triangle \
          of a pixel or two most of the quad is thrown away.",
    cure: "Use levels of detail with fewer triangles for distant objects, and normal maps for fine detail.",
    source: "Triangle density",
    find,
};

/// Pixels of a triangle.
const PIXELS: f64 = 10.0;
const LEAST: u64 = 1000;
/// Quads for each pixel of triangles of ten pixels.
const QUADS: f64 = 0.45;

/// Triangles that could be seen, and pixels of each.
fn size(c: &Counts) -> (u64, f64) {
    let prims = c[Event::PrimsVisible] + c[Event::PrimsSampleCulled];
    let quads = c[Event::QuadsRasterised] as f64;
    // A partial quad has two of its pixels, about.
    let pixels = 4.0 * quads - 2.0 * c[Event::QuadsPartial] as f64;
    (prims, pixels / prims.max(1) as f64)
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let counts = |n: &usize| p.draws[*n].counted.counts();
        let bad = |n: &usize| {
            let (prims, pixels) = size(&counts(n));
            counts(n)[Event::Triangles] > 0 && prims >= LEAST && pixels < PIXELS
        };
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
        if draws.is_empty() {
            continue;
        }
        draws.sort_by_key(|n| std::cmp::Reverse(size(&counts(n)).0));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |_, c| {
            let (prims, pixels) = size(c);
            let fewer = pixels / PIXELS;
            let quads = QUADS * pixels * prims as f64 / c[Event::QuadsRasterised].max(1) as f64;
            vertices(c, fewer);
            primitives(c, fewer);
            fragments(c, quads);
            c[Event::QuadsRasterised] = part(c[Event::QuadsRasterised], quads);
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws with as many triangles fewer as it takes for 10 pixels each, in the schedule",
        );
        let about = draws.iter().map(|n| {
            let (prims, pixels) = size(&counts(n));
            case.draw(p, *n, format!("{prims} triangles in view, of {pixels:.1} pixels on average"))
        });
        items.push(Item {
            rule,
            says: format!(
                "{} triangles of fewer than 10 pixels on average.",
                case.draws_of(p, draws.len(), "has", "have")
            ),
            cure: None,
            about: about.collect(),
            more: 0,
            lines: vec![],
            gain,
        });
    }
    items
}
