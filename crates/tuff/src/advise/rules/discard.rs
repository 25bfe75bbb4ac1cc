use super::Rule;
use super::overdraw::{covered, shaded};
use crate::advise::case::{Change, fragments, with_draws};
use crate::advise::{Case, Item};
use counters::Event;

pub const RULE: Rule = Rule {
    id: "discard",
    title: "Shaders that may discard keep hidden fragments from being dropped",
    threshold: "draws that may discard and do not blend shade at least 1.5 fragments for each pixel that the pass covers, together with the other draws",
    why: "A shader that may discard decides only when it ends whether its fragment covers the pixel. Until then the GPU cannot drop the fragments behind \
          it, so they are shaded too.",
    cure: "Remove discard where nothing is discarded. Use it only for geometry that needs it, drawn after opaque geometry and from front to back, or \
           cut the geometry to the shape. Alpha to coverage has the same cost.",
    source: "Discards; Optimizing the draw call render order",
    find,
};

const LEAST: f64 = 1.5;

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let counts = |n: &usize| p.draws[*n].counted.counts();
        let may = |n: &usize| {
            let d = &p.draws[*n];
            (d.alpha_to_coverage || d.fragment.as_ref().is_some_and(|f| f.discards))
                && !d.blends
                && counts(n)[Event::QuadsShaded] > 0
        };
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(may).collect();
        if draws.is_empty() {
            continue;
        }
        let own = shaded(p, &draws);
        let opaque: Vec<usize> = (0..p.draws.len()).filter(|n| !may(n) && !p.draws[*n].blends).collect();
        let all = own + shaded(p, &opaque);
        let covered = covered(case, p, all);
        if all < LEAST * covered {
            continue;
        }
        // What is too many, of these draws.
        let left = 1.0 - ((all - covered) / own).min(1.0) * own / all;
        draws.sort_by_key(|n| std::cmp::Reverse(counts(n)[Event::QuadsShaded]));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |_, c| fragments(c, left.max(covered / all)));
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws with the fragments that would be left if each covered pixel were shaded once, in the schedule",
        );
        let w = case.workload(p);
        let lines = case.shaders.dearest(
            "fragment",
            [&w.label, &w.name],
            &draws,
            &["Arithmetic cycles", "Texture cycles"],
        );
        let none = draws.iter().all(|n| {
            let (c, d) = (counts(n), &p.draws[*n]);
            c[Event::SamplesPassed] >= c[Event::FragmentInvocations] * d.samples as u64
        });
        let about = draws.iter().map(|n| {
            let c = counts(n);
            case.draw(
                p,
                *n,
                format!(
                    "{} fragments shaded, {} samples left",
                    c[Event::FragmentInvocations],
                    c[Event::SamplesPassed]
                ),
            )
        });
        let says = format!(
            "{} discard fragments, and {:.1} fragments are shaded for each covered pixel{}.",
            case.draws_of(p, draws.len(), "may", "may"),
            all / covered,
            if none { "; in the capture they discard none" } else { "" }
        );
        let cure = none
            .then(|| "These draws discarded nothing: draw them with shaders without discard.".to_string());
        items.push(Item { rule, says, cure, about: about.collect(), more: 0, lines, gain });
    }
    items
}
