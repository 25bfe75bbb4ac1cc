use super::Rule;
use crate::advise::case::{Change, part, with_draws};
use crate::advise::{Case, Item};
use counters::{Counts, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "varyings",
    title: "Many full-precision values go from vertices to fragments",
    threshold: "a draw's fragment shader reads at least 12 interpolated scalars of 32 bits",
    why: "Each value is written to memory for each visible vertex, read back for each triangle, and interpolated for each quad. The unit that \
          interpolates takes two values of 16 bits in the time of one of 32, and memory holds them in half the bytes.",
    cure: "Declare varyings mediump in both shaders, except positions and coordinates of large textures. Compute per object, not per vertex, what \
           does not vary, and leave out what can be derived.",
    source: "Varying precision",
    find,
};

const LEAST: u32 = 12;

/// Interpolated scalars of a draw's fragments that have 32 bits.
fn wide(p: &crate::advise::facts::Pass, n: usize) -> u32 {
    p.draws[n].fragment.as_ref().map_or(0, |f| f.inputs[0].saturating_sub(f.inputs[1] + f.inputs[2]))
}

/// Half of the slots and of what the phases move of them.
fn halve(c: &mut Counts, share: f64) {
    let wide = c[(Phase::Main, Unit::VaryingSlots32)];
    c[(Phase::Main, Unit::VaryingSlots32)] = 0;
    c[(Phase::Main, Unit::VaryingSlots16)] += wide.div_ceil(2);
    // Outputs beside the position, which is four words.
    let left = 1.0 - 0.5 * share;
    for (phase, units) in [
        (
            Phase::Binning,
            &[Unit::LsWriteFull, Unit::LsWriteBackBeats, Unit::L2WriteLookups, Unit::ExtWrites][..],
        ),
        (
            Phase::Main,
            &[
                Unit::LsReadFull,
                Unit::LsReadPartial,
                Unit::LsL2ReadBeats,
                Unit::LsExtReadBeats,
                Unit::L2ReadLookups,
            ],
        ),
    ] {
        units.iter().for_each(|u| c[(phase, *u)] = part(c[(phase, *u)], left));
    }
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(|n| wide(p, *n) >= LEAST).collect();
        if draws.is_empty() {
            continue;
        }
        let slots = |n: &usize| p.draws[*n].counted.counts()[(Phase::Main, Unit::VaryingSlots32)];
        draws.sort_by_key(|n| std::cmp::Reverse(slots(n)));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |n, c| {
            let f = &p.draws[n].fragment;
            let bytes = f.as_ref().map_or(0, |f| 4 * f.inputs[0] - 2 * f.inputs[1]) as f64;
            halve(c, 4.0 * wide(p, n) as f64 / (bytes + 16.0));
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws with half the interpolation and half the bytes of these values, in the schedule",
        );
        let w = case.workload(p);
        let lines = case.shaders.dearest("fragment", [&w.label, &w.name], &draws, &["Varying cycles"]);
        let about = draws.iter().map(|n| case.draw(p, *n, format!("{} scalars of 32 bits", wide(p, *n))));
        items.push(Item {
            rule,
            says: format!(
                "{} 12 or more scalars of 32 bits.",
                case.draws_of(p, draws.len(), "interpolates", "interpolate")
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
