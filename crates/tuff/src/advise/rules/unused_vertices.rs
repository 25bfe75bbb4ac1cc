use super::Rule;
use super::unused_attributes::{fetch, fetching};
use crate::advise::case::{Change, with_draws};
use crate::advise::{Case, Item};

pub const RULE: Rule = Rule {
    id: "unused-vertices",
    title: "Indices skip vertices",
    threshold: "a draw's indices use fewer than 60 % of the vertices between the first and the last one, and these vertices have at \
                least 16 KiB",
    why: "Vertices are fetched by cache line. Vertices that no triangle uses lie in the same lines as those that are used, and older Malis \
          even shade all of the range.",
    cure: "Store the vertices of each mesh and level of detail together, without gaps, in the order in which indices use them first.",
    source: "Index draw calls (index buffer density); Attribute layout",
    find,
};

const USED: f64 = 0.6;
const BYTES: u64 = 16 << 10;

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let used = |n: &usize| {
            let v = &p.draws[*n].vertices;
            v.distinct as f64 / v.span.max(1) as f64
        };
        let stride = |n: &usize| {
            p.draws[*n].streams.iter().filter(|s| !s.per_instance).map(|s| s.stride as u64).sum::<u64>()
        };
        let skips = |n: &usize| {
            let d = &p.draws[*n];
            d.indexed && d.vertices.span * stride(n) >= BYTES && used(n) < USED
        };
        let draws: Vec<usize> = (0..p.draws.len()).filter(skips).collect();
        if draws.is_empty() {
            continue;
        }
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |n, c| {
            let d = &p.draws[n];
            let gap = 1.0 / used(&n);
            let lines = |s: &crate::advise::facts::Stream| fetching(d, s);
            let each = d.streams.iter().filter(|s| !s.per_instance);
            let dense: f64 = each.clone().map(|s| lines(s).dense).sum();
            // A vertex with nothing beside it that is used takes its own lines.
            let now: f64 = each.map(|s| (lines(s).dense * gap).min(lines(s).alone)).sum();
            fetch(c, dense / now.max(dense));
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws' attribute traffic as far as it is that of vertices without gaps, in the schedule",
        );
        let about = draws.iter().map(|n| {
            let v = &p.draws[*n].vertices;
            case.draw(p, *n, format!("{} of {} vertices, {} bytes each", v.distinct, v.span, stride(n)))
        });
        items.push(Item {
            rule,
            says: format!(
                "{} less than 60 % of the vertices between the first and the last index.",
                case.draws_of(p, draws.len(), "uses", "use")
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
