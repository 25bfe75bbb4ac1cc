use super::Rule;
use super::texture_format::fetch;
use crate::advise::case::{Change, with_draws};
use crate::advise::facts::{Draw, Texture};
use crate::advise::{Case, Item};
use counters::{Counts, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "mipmaps",
    title: "A texture without mipmaps is drawn smaller than it is",
    threshold: "a draw samples a texture of one level, of at least 64 × 64 texels, or with a sampler that uses one level only, and reads at least 3 \
                times as many bytes into the texture caches as one texel a sample has",
    why: "Without mipmaps, neighbouring pixels read texels that are far apart: each from a cache line of its own, most of which nobody needs. \
          It also flickers.",
    cure: "Give the texture a full chain of mipmaps, and a sampler with a maxLod of VK_LOD_CLAMP_NONE.",
    source: "Texture sampling performance",
    find,
};

const SIDE: u32 = 64;
const MANY: f64 = 3.0;
/// Texels that a sample reads with mipmaps, those that neighbours share counted once.
const GOOD: f64 = 1.25;

fn single(case: &Case, t: &Texture) -> bool {
    let i = case.image(t.image);
    let one = t.levels <= 1 || t.sampler.as_ref().is_some_and(|s| s.max_lod < 1.0);
    let attached = i.usage.contains("ATTACHMENT");
    one && !attached && t.sampler.is_some() && i.extent[0] >= SIDE && i.extent[1] >= SIDE && i.samples == 1
}

/// Bytes that a sample reads into the cache, of those that a texel has.
pub fn texels(case: &Case, d: &Draw) -> f64 {
    let c = d.counted.counts();
    let of = |u: Unit| c[(Phase::Main, u)] as f64;
    let samples = of(Unit::TexNearest) + of(Unit::TexBilinear) + of(Unit::TexTrilinear) + of(Unit::TexAniso);
    let widths = d.textures.iter().map(|t| {
        let i = case.image(t.image);
        i.block_bytes as f64 / i.block_extent.iter().map(|n| *n as f64).product::<f64>().max(1.0)
    });
    let (sum, n) = widths.fold((0.0, 0.0), |(s, n), w| (s + w, n + 1.0));
    64.0 * of(Unit::TexL1Misses) / (samples * sum / f64::max(n, 1.0)).max(1.0)
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let bad = |n: &usize| {
            let d = &p.draws[*n];
            d.textures.iter().any(|t| single(case, t)) && texels(case, d) >= MANY
        };
        let misses = |n: &usize| p.draws[*n].counted.counts()[(Phase::Main, Unit::TexL1Misses)];
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(|n| bad(n) && misses(n) > 1000).collect();
        if draws.is_empty() {
            continue;
        }
        draws.sort_by_key(|n| std::cmp::Reverse(misses(n)));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |n, c: &mut Counts| {
            let d = &p.draws[n];
            let share =
                d.textures.iter().filter(|t| single(case, t)).count() as f64 / d.textures.len().max(1) as f64;
            fetch(c, 1.0 - share * (1.0 - GOOD / texels(case, d)));
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws' texture traffic at 1.25 texels a sample, as with mipmaps, in the schedule",
        );
        let mut about = vec![];
        for n in &draws {
            for t in p.draws[*n].textures.iter().filter(|t| single(case, t)) {
                if !about.iter().any(|(i, _)| *i == t.image) {
                    about.push((
                        t.image,
                        case.image_about(t.image, format!("{} of its levels sampled", t.levels.min(1))),
                    ));
                }
            }
        }
        let mut about: Vec<_> = about.into_iter().map(|a| a.1).collect();
        let more = about.len().saturating_sub(3);
        about.truncate(3);
        about.extend(draws.iter().take(2).map(|n| {
            case.draw(p, *n, format!("reads {:.1} texels' bytes a sample", texels(case, &p.draws[*n])))
        }));
        items.push(Item {
            rule,
            says: format!(
                "{} textures of one level much smaller than they are.",
                case.draws_of(p, draws.len(), "samples", "sample")
            ),
            cure: None,
            about,
            more,
            lines: vec![],
            gain,
        });
    }
    items
}
