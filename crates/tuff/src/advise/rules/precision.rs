use super::Rule;
use crate::advise::case::{Change, part, with_draws};
use crate::advise::{Case, Item};
use counters::{Counts, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "precision",
    title: "Colours are computed with 32 bits",
    threshold: "a draw's fragment shader has at least 16 arithmetic instructions a warp, fewer than 10 % of them on 16 bits, the pass's colour \
                attachments have at most 10 bits a channel, and arithmetic bounds the pass",
    why: "A Mali computes two 16-bit values in the time of one of 32 bits, and keeps two in a register. Colours that end up in 8 or 10 bits need \
          no more.",
    cure: "Use mediump or float16_t (VK_KHR_shader_float16_int8) for colours, normals and lighting. Keep positions, depth and texture coordinates \
           in 32 bits.",
    source: "Minimizing precision; Check precision",
    find,
};

const LEAST: u64 = 16;
const NARROW: f64 = 0.1;
/// What is left of the multiplications and additions: two values at once; of 16 bits the two do not fuse.
const LEFT: f64 = 0.6;

pub fn arithmetic(c: &Counts) -> u64 {
    [Unit::Fma, Unit::Cvt, Unit::Sfu].iter().map(|u| c[(Phase::Main, *u)]).sum()
}

/// The attachment's channels have few bits.
pub fn is_coarse(format: &str) -> bool {
    let few = ["R8", "B8", "A8", "R5", "B5", "R4", "B4", "A4", "A1", "A2", "B10G11R11"];
    few.iter().any(|f| format.starts_with(f))
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let colours = p.attachments.iter().filter(|a| a.role == "colour");
        if colours.clone().count() == 0 || !colours.clone().all(|a| is_coarse(&a.format)) {
            continue;
        }
        let w = case.workload(p);
        let main = w.jobs.iter().find(|j| j.queue == "main");
        if main.and_then(|j| j.bound.as_deref()) != Some("arithmetic") {
            continue;
        }
        let counts = |n: &usize| p.draws[*n].counted.counts();
        let bad = |n: &usize| {
            let c = counts(n);
            let (all, warps) = (arithmetic(&c), c[(Phase::Main, Unit::Warps)]);
            warps > 0 && all >= LEAST * warps && (c[(Phase::Main, Unit::Narrow)] as f64) < NARROW * all as f64
        };
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(bad).collect();
        if draws.is_empty() {
            continue;
        }
        draws.sort_by_key(|n| std::cmp::Reverse(arithmetic(&counts(n))));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |_, c| {
            c[(Phase::Main, Unit::Fma)] = part(c[(Phase::Main, Unit::Fma)], LEFT);
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws with 60 % of their FMA instructions (two values at once, but fewer that fuse; conversions and comparisons left as they are), in the schedule",
        );
        let lines = case.shaders.dearest("fragment", [&w.label, &w.name], &draws, &["Arithmetic cycles"]);
        let about = draws.iter().map(|n| {
            let c = counts(n);
            let each = arithmetic(&c) / c[(Phase::Main, Unit::Warps)].max(1);
            let narrow = 100.0 * c[(Phase::Main, Unit::Narrow)] as f64 / arithmetic(&c).max(1) as f64;
            case.draw(
                p,
                *n,
                format!("{each} arithmetic instructions a warp, {narrow:.0} % of them on 16 bits"),
            )
        });
        let formats: Vec<&str> = colours.map(|a| a.format.as_str()).collect();
        items.push(Item {
            rule,
            says: format!(
                "{} with 32 bits what goes to {}, and arithmetic bounds the pass.",
                case.draws_of(p, draws.len(), "computes", "compute"),
                formats.join(", ")
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
