use super::Rule;
use crate::advise::case::{Change, fragments, with_draws};
use crate::advise::{Case, Item};
use counters::{Counts, Event};

pub const RULE: Rule = Rule {
    id: "late-depth",
    title: "Fragments are shaded and then fail the depth test",
    threshold: "late depth and stencil tests kill at least 10 % of the quads that a draw shades",
    why: "A fragment that is tested before shading costs next to nothing. A shader that writes depth, a sample mask or memory moves the test \
          after shading, and hidden fragments are shaded in full.",
    cure: "Do not write gl_FragDepth. If it is needed, declare how it changes (depth_greater, depth_less). Use layout(early_fragment_tests) \
           for shaders that write buffers or images. Draw such objects last.",
    source: "Optimizing the draw call render order; Shader code: early and late ZS testing",
    find,
};

const KILLED: f64 = 0.1;

fn killed(c: &Counts) -> f64 {
    c[Event::QuadsLzsKilled] as f64 / c[Event::QuadsShaded].max(1) as f64
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let counts = |n: &usize| p.draws[*n].counted.counts();
        // Those that only discard killed no fragment by a test.
        let late = |n: &usize| {
            let f = p.draws[*n].fragment.as_ref();
            f.is_some_and(|f| f.writes_depth || f.writes_memory || f.reads_tile || f.discards)
        };
        let bad =
            |n: &usize| late(n) && killed(&counts(n)) >= KILLED && counts(n)[Event::QuadsLzsKilled] >= 256;
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
        if draws.is_empty() {
            continue;
        }
        draws.sort_by_key(|n| std::cmp::Reverse(counts(n)[Event::QuadsLzsKilled]));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |_, c| {
            let left = 1.0 - killed(c);
            fragments(c, left);
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws without the fragments that late tests kill, in the schedule",
        );
        let w = case.workload(p);
        let lines = case.shaders.dearest(
            "fragment",
            [&w.label, &w.name],
            &draws,
            &["Arithmetic cycles", "Texture cycles"],
        );
        let about = draws.iter().map(|n| {
            let f = p.draws[*n].fragment.as_ref();
            let why: Vec<&str> = [
                (f.is_some_and(|f| f.writes_depth), "writes depth or stencil"),
                (f.is_some_and(|f| f.writes_memory && !f.early_tests), "writes memory"),
                (f.is_some_and(|f| f.discards), "discards"),
                (f.is_some_and(|f| f.reads_tile), "reads the tile"),
            ]
            .into_iter()
            .filter(|w| w.0)
            .map(|w| w.1)
            .collect();
            let dead = 4 * counts(n)[Event::QuadsLzsKilled];
            case.draw(
                p,
                *n,
                format!(
                    "{dead} of {} fragments shaded in vain; the shader {}",
                    4 * counts(n)[Event::QuadsShaded],
                    why.join(", ")
                ),
            )
        });
        items.push(Item {
            rule,
            says: format!(
                "{} fragments that fail the depth test only after they were shaded.",
                case.draws_of(p, draws.len(), "has", "have")
            ),
            cure: None,
            about: about.collect(),
            more: 0,
            lines,
            gain,
        });
    }
    items
}
