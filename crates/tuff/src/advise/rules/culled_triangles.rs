use super::Rule;
use crate::advise::case::{Change, primitives, vertices, with_draws};
use crate::advise::{Case, Item};
use counters::{Counts, Event};

pub const RULE: Rule = Rule {
    id: "culled-triangles",
    title: "Most triangles of a draw are outside the picture",
    threshold: "at least half of a draw's triangles, of 500 or more, lie outside the view volume or the scissor",
    why: "The GPU shades the position of each vertex before it can tell that a triangle is not in view. The program can tell for a whole \
          object, with one test of its bounding box.",
    cure: "Cull objects against the view frustum before they are drawn. Split large meshes into parts with bounding boxes of their own.",
    source: "Draw call culling",
    find,
};

const CULLED: f64 = 0.5;
const LEAST: u64 = 500;

fn outside(c: &Counts) -> f64 {
    let all = c[Event::Triangles] + c[Event::Lines] + c[Event::Points];
    (c[Event::PrimsFrustumCulled] + c[Event::PrimsScissorCulled]) as f64 / all.max(1) as f64
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let counts = |n: &usize| p.draws[*n].counted.counts();
        let bad = |n: &usize| counts(n)[Event::Triangles] >= LEAST && outside(&counts(n)) >= CULLED;
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
        if draws.is_empty() {
            continue;
        }
        draws.sort_by_key(|n| std::cmp::Reverse(counts(n)[Event::PrimsFrustumCulled]));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |_, c| {
            let outside = outside(c);
            // What comes after positions is shaded for visible triangles alone.
            let positions = c[Event::VertexInvocations] as f64;
            let apart = c[Event::VaryingCacheMisses] as f64;
            let share = positions / (positions + apart).max(1.0);
            vertices(c, 1.0 - outside * share);
            primitives(c, 1.0 - outside);
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws without the vertices and triangles outside, in the schedule",
        );
        let about = draws.iter().map(|n| {
            let c = counts(n);
            let culled = c[Event::PrimsFrustumCulled] + c[Event::PrimsScissorCulled];
            case.draw(p, *n, format!("{culled} of {} triangles outside", c[Event::Triangles]))
        });
        items.push(Item {
            rule,
            says: format!(
                "{} most of the triangles outside the picture.",
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
