use super::Rule;
use crate::advise::case::{Change, fragments, with_draws};
use crate::advise::facts::Pass;
use crate::advise::{Case, Item};
use counters::{Counts, Event};

pub const RULE: Rule = Rule {
    id: "overdraw",
    title: "Pixels are shaded several times",
    threshold: "a render pass shades at least 2.5 fragments for each pixel that it covers; draws that discard fragments are left to the rule `discard`",
    why: "Every fragment that a later one covers was shaded in vain. A Mali rejects what lies behind by early depth tests, and drops \
          opaque fragments that later opaque ones cover before they are shaded, but only without blending, and best from front to back.",
    cure: "Draw opaque geometry without blending, from front to back, and transparent geometry after it. Trim the empty borders of \
           sprites, and draw fewer or smaller transparent layers.",
    source: "Optimizing the draw call render order; Blending",
    find,
};

/// Shaded fragments of each covered pixel.
const LEAST: f64 = 2.5;
/// Pixels that are worth it.
const PIXELS: f64 = 1000.0;

/// Pixels of a pass that some fragment covers: of each region no more than it has.
pub fn covered(case: &Case, p: &Pass, shaded: f64) -> f64 {
    let area = p.area[0] as f64 * p.area[1] as f64 * p.layers as f64;
    // Regions are those of the last run.
    let order = |run: usize| case.capture.runs.as_ref().and_then(|r| r.get(run)).map(|r| r.order);
    let seen = case.capture.passes.iter().find(|c| c.workload == p.workload && order(c.run) == Some(p.order));
    let regions = seen.and_then(|c| c.regions.as_ref());
    let by_region = regions.and_then(|r| {
        let pixels = r.side as f64 * r.side as f64;
        let all = r.counters.get("TuffFragmentInvocations")?.as_array()?;
        Some(all.iter().filter_map(|n| n.as_f64()).map(|n| n.min(pixels)).sum::<f64>())
    });
    by_region.unwrap_or(area).min(area).min(shaded).max(1.0)
}

/// Fragments that are shaded in a pass by these draws, without those that late tests kill (the rule `late-depth` has them) and helpers.
pub fn shaded(p: &Pass, draws: &[usize]) -> f64 {
    draws.iter().map(|n| fragments_of(&p.draws[*n].counted.counts())).sum()
}

fn fragments_of(c: &Counts) -> f64 {
    let killed = c[Event::QuadsLzsKilled] as f64 / c[Event::QuadsShaded].max(1) as f64;
    c[Event::FragmentInvocations] as f64 * (1.0 - killed).max(0.0)
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let discards = |n: &usize| p.draws[*n].fragment.as_ref().is_some_and(|f| f.discards);
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(|n| !discards(n)).collect();
        let samples = draws.iter().map(|n| p.draws[*n].counted.counts()).fold(1.0, |most: f64, c| {
            // Shading by sample is not overdraw.
            most.max(c[Event::CoarseQuads] as f64 / c[Event::QuadsRasterised].max(1) as f64)
        });
        let all = shaded(p, &draws) / samples;
        let covered = covered(case, p, all);
        let ratio = all / covered;
        if ratio < LEAST || covered < PIXELS {
            continue;
        }
        let of = |n: &usize| fragments_of(&p.draws[*n].counted.counts()) as u64;
        draws.retain(|n| of(n) > 0);
        draws.sort_by_key(|n| std::cmp::Reverse(of(n)));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |_, c: &mut Counts| fragments(c, 1.0 / ratio));
        let blended = draws.iter().filter(|n| p.draws[**n].blends).count();
        let blends = match blended {
            0 => "none of its draws blends".to_string(),
            1 if draws.len() == 1 => "its draw blends".into(),
            n if n == draws.len() => "all of its draws blend".into(),
            1 => format!("1 of its {} draws blends", draws.len()),
            n => format!("{n} of its {} draws blend", draws.len()),
        };
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "at most: the time if each covered pixel were shaded once, all draws having an equal share of the overdraw",
        );
        let about = draws.iter().map(|n| {
            let d = &p.draws[*n];
            let how = if d.blends {
                "blends"
            } else if d.depth_test {
                "opaque, tested"
            } else {
                "opaque, without depth test"
            };
            case.draw(p, *n, format!("{} fragments, {how}", of(n)))
        });
        items.push(Item {
            rule,
            says: format!(
                "In {}, each covered pixel is shaded {ratio:.1} times; {blends}.",
                case.workload(p).line()
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
