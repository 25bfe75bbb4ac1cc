use super::Rule;
use crate::advise::case::{Change, vertices, with_draws};
use crate::advise::{Case, Item};

pub const RULE: Rule = Rule {
    id: "duplicate-vertices",
    title: "Triangles have equal vertices of their own",
    threshold: "of the vertices of a draw, at least 500, fewer than 70 % differ in their attributes",
    why: "Equal vertices under different indices, or without indices, are fetched and shaded each for itself, and their results take memory \
          bandwidth twice.",
    cure: "Index the mesh, and merge equal vertices when it is exported.",
    source: "Index draw calls",
    find,
};

const DIFFERENT: f64 = 0.7;
const LEAST: u64 = 500;

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let different = |n: &usize| {
            let v = &p.draws[*n].vertices;
            v.different as f64 / v.distinct.max(1) as f64
        };
        let bad = |n: &usize| {
            let d = &p.draws[*n];
            // Points and strips share nothing, or by their order.
            let list = d.topology == "TRIANGLE_LIST";
            list && d.vertices.distinct >= LEAST && !d.streams.is_empty() && different(n) < DIFFERENT
        };
        let draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
        if draws.is_empty() {
            continue;
        }
        let was = case.counts(p);
        // An index of two bytes each is read instead: little beside what is saved, and left out.
        let now = with_draws(was, p, &draws, |n, c| vertices(c, different(&n)));
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws' vertex work if each different vertex were shaded once, in the schedule",
        );
        let about = draws.iter().map(|n| {
            let v = &p.draws[*n].vertices;
            let by = if p.draws[*n].indexed { "indexed" } else { "not indexed" };
            case.draw(p, *n, format!("{} vertices, {by}, of which {} differ", v.distinct, v.different))
        });
        items.push(Item {
            rule,
            says: format!(
                "{} vertices of which fewer than 70 % differ.",
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
