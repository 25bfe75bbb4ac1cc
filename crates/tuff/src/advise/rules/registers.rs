use super::Rule;
use crate::advise::case::{Change, with_draws};
use crate::advise::{Case, Item};
use counters::{Counts, Event, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "registers",
    title: "A shader uses so many registers that fewer warps fit",
    threshold: "at least half of a draw's warps have more than 32 registers, the draw has at least 1000 warps, and with 32 the pass would be faster",
    why: "A Mali core holds half as many threads of a shader with more than 32 work registers. Then fewer warps are there to work while others \
          wait for textures and memory.",
    cure: "Keep fewer values at once: use what is sampled or loaded at once, compute cheap values again instead of keeping them, use 16-bit types, \
           and unroll less.",
    source: "Shader code: register usage (work registers and thread occupancy); Minimizing precision",
    find,
};

const LEAST: u64 = 1000;
/// Registers with which a core holds all of its warps.
pub const FEW: u32 = 32;

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        for (phase, stage) in [(Phase::Main, "fragment"), (Phase::Binning, "vertex")] {
            let large = |c: &Counts| c[(phase, Unit::AllRegsWarps)];
            let counts = |n: &usize| p.draws[*n].counted.counts();
            let bad = |n: &usize| {
                let c = counts(n);
                c[(phase, Unit::Warps)] >= LEAST && 2 * large(&c) >= c[(phase, Unit::Warps)]
            };
            let mut draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
            if draws.is_empty() {
                continue;
            }
            draws.sort_by_key(|n| std::cmp::Reverse(large(&counts(n))));
            let was = case.counts(p);
            let now = with_draws(was, p, &draws, |_, c| c[(phase, Unit::AllRegsWarps)] = 0);
            let gain = case.gain(
                &[Change { pass: p, was, now }],
                "the pass with all of a core's warps for these draws, in the schedule",
            );
            if gain.ns <= 0.0 {
                continue;
            }
            let w = case.workload(p);
            let lines = case.shaders.dearest(
                stage,
                [&w.label, &w.name],
                &draws,
                &["Arithmetic cycles", "Texture cycles"],
            );
            let about = draws.iter().map(|n| {
                let f = p.draws[*n].fragment.as_ref().filter(|_| phase == Phase::Main);
                let registers = f.map_or(String::new(), |f| format!("{} registers, ", f.registers));
                let fragments = counts(n)[Event::FragmentInvocations];
                let of = if phase == Phase::Main { format!("{fragments} fragments") } else { String::new() };
                case.draw(
                    p,
                    *n,
                    format!("{registers}{} warps, {of}", large(&counts(n)))
                        .trim_end_matches(", ")
                        .to_string(),
                )
            });
            items.push(Item {
                rule,
                says: format!(
                    "{} {stage} shaders with more than {FEW} registers, so a core holds half as many of their warps.",
                    case.draws_of(p, draws.len(), "has", "have")
                ),
                cure: None,
                about: about.collect(),
                more: 0,
                lines,
                gain,
            });
        }
    }
    items
}
