use super::Rule;
use crate::advise::case::{Change, vertices, with_draws};
use crate::advise::{Case, Item};
use counters::Event;

pub const RULE: Rule = Rule {
    id: "index-order",
    title: "Vertices are shaded several times because of the order of indices",
    threshold: "an indexed draw shades its vertices at least 1.3 times each, and 1000 times in all",
    why: "A vertex that is used again soon is not shaded again. Its result is gone if too many other vertices come in between.",
    cure: "Sort the triangles for the vertex cache when meshes are exported (meshoptimizer, for example), and then the vertices by first use.",
    source: "Index draw calls; Index buffer encoding",
    find,
};

const AGAIN: f64 = 1.3;
const LEAST: u64 = 1000;
/// What a good order comes to: vertices at the borders of batches are shaded twice.
const GOOD: f64 = 1.1;

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let again = |n: &usize| {
            let (c, v) = (p.draws[*n].counted.counts(), &p.draws[*n].vertices);
            c[Event::VertexInvocations] as f64 / (v.distinct * v.instances).max(1) as f64
        };
        let bad = |n: &usize| {
            let d = &p.draws[*n];
            d.indexed
                && d.vertices.distinct > 0
                && again(n) >= AGAIN
                && d.counted.counts()[Event::VertexInvocations] >= LEAST
        };
        let draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
        if draws.is_empty() {
            continue;
        }
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |n, c| vertices(c, GOOD / again(&n)));
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws' vertex work if each vertex were shaded 1.1 times, in the schedule",
        );
        let about = draws.iter().map(|n| {
            let d = &p.draws[*n];
            let runs = d.counted.counts()[Event::VertexInvocations];
            case.draw(
                p,
                *n,
                format!("{} vertices, shaded {runs} times: {:.1} times each", d.vertices.distinct, again(n)),
            )
        });
        items.push(Item {
            rule,
            says: format!(
                "{} each vertex more than 1.3 times.",
                case.draws_of(p, draws.len(), "shades", "shade")
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
