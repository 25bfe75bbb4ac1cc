use super::{Rule, mipmaps};
use crate::advise::case::{Change, part, with_draws};
use crate::advise::facts::{Draw, Image};
use crate::advise::{Case, Item};
use counters::{Counts, Phase, Unit};
use std::collections::BTreeMap;

pub const RULE: Rule = Rule {
    id: "texture-format",
    title: "Textures are not compressed, or wider than needed",
    threshold: "a draw samples a texture of at least 64 KiB that is never written but by transfers and has at least 4 bytes a texel, \
                uncompressed",
    why: "A texel of ASTC takes 1 byte or less, in memory and in the caches. Texels of more than 32 bits also take the filter twice as long or more.",
    cure: "Compress with ASTC (4 × 4 for most textures, 6 × 6 or 8 × 8 for larger ones), or with ETC2. For HDR use ASTC HDR, \
           B10G11R11_UFLOAT_PACK32 or E5B9G9R9_UFLOAT_PACK32 rather than formats of 16 or 32 bits a channel.",
    source: "Texture compression (ASTC, ETC2); Texture sampling performance",
    find,
};

/// Bytes of a texture: smaller ones stay in the cores' caches.
const LARGE: u64 = 64 << 10;
const WIDE: u32 = 4;
/// Texels' bytes a sample up to which neighbouring samples share lines.
const TOGETHER: f64 = 2.5;

/// Bytes of a texel, if it could be compressed.
fn texel(i: &Image) -> Option<u32> {
    let attached = ["ATTACHMENT", "STORAGE"].iter().any(|u| i.usage.contains(u));
    let large = i.bytes() >= LARGE;
    let plain = i.block_extent == [1, 1, 1] && !i.format.contains("INT") && !i.format.starts_with('D');
    (!attached && large && plain && i.samples == 1 && i.block_bytes >= WIDE).then_some(i.block_bytes)
}

/// Less to fetch for textures: this part.
pub fn fetch(c: &mut Counts, by: f64) {
    for phase in [Phase::Main, Phase::Binning] {
        let (beats, far) = (c[(phase, Unit::TexL2ReadBeats)], c[(phase, Unit::TexExtReadBeats)]);
        for u in [Unit::TexL1Misses, Unit::TexL2ReadBeats, Unit::TexExtReadBeats] {
            c[(phase, u)] = part(c[(phase, u)], by);
        }
        let saved = |was: u64, now: u64| (was - now) / 4;
        let lookups = saved(beats, c[(phase, Unit::TexL2ReadBeats)]);
        c[(phase, Unit::L2ReadLookups)] = c[(phase, Unit::L2ReadLookups)].saturating_sub(lookups);
        // Some lines are requested by several tiles but come from memory once: the draw's external reads go down in proportion.
        let lines = saved(far, c[(phase, Unit::TexExtReadBeats)]);
        c[(phase, Unit::ExtReads)] = c[(phase, Unit::ExtReads)].saturating_sub(lines);
    }
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    // Bytes of a texel of all of a draw's textures, before and after.
    let bytes = |d: &Draw| -> [f64; 2] {
        d.textures.iter().fold([0.0; 2], |[was, now], t| {
            let i = case.image(t.image);
            let texels = i.block_extent.iter().map(|n| *n as f64).product::<f64>();
            let own = i.block_bytes as f64 / texels.max(1.0);
            let less = texel(i).map_or(own, |bytes| if bytes > WIDE { WIDE as f64 } else { 1.0 });
            [was + own, now + less]
        })
    };
    for p in &case.facts.passes {
        let some = |n: &usize| p.draws[*n].textures.iter().any(|t| texel(case.image(t.image)).is_some());
        let beats = |n: &usize| p.draws[*n].counted.counts()[(Phase::Main, Unit::TexL2ReadBeats)];
        let mut draws: Vec<usize> = (0..p.draws.len()).filter(|n| some(n) && beats(n) > 0).collect();
        if draws.is_empty() {
            continue;
        }
        draws.sort_by_key(|n| std::cmp::Reverse(beats(n)));
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |n, c| {
            let d = &p.draws[n];
            let [was, now] = bytes(d);
            // Where samples lie so far apart that each needs lines of its own, smaller texels save none.
            let together = (TOGETHER / mipmaps::texels(case, d).max(1e-9)).min(1.0);
            fetch(c, 1.0 - together * (1.0 - now / was.max(1e-9)));
            // Texels of more than 32 bits take the filter longer.
            let widths = d.textures.iter().map(|t| case.image(t.image));
            let width = |i: &Image| texel(i).map_or(1, |b| b.div_ceil(4)) as f64;
            let (all, count) = widths.fold((0.0, 0.0), |(all, n), i| (all + width(i), n + 1.0));
            for u in [Unit::TexFilterOps, Unit::TexFetches] {
                c[(Phase::Main, u)] = part(c[(Phase::Main, u)], count / f64::max(all, 1.0));
            }
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws' texture traffic if these textures took 1 byte a texel (4 bytes, if they now have more than 4), each texture having its share by the width of its texels; less, where samples lie far apart",
        );
        let mut images: BTreeMap<usize, usize> = BTreeMap::new();
        for t in draws.iter().flat_map(|n| &p.draws[*n].textures) {
            if texel(case.image(t.image)).is_some() {
                *images.entry(t.image).or_default() += 1;
            }
        }
        let mut images: Vec<(usize, usize)> = images.into_iter().collect();
        images.sort_by_key(|(i, times)| std::cmp::Reverse(case.image(*i).bytes() * *times as u64));
        let about = images.iter().map(|(i, times)| {
            let size = crate::report::bytes(case.image(*i).bytes() as f64);
            case.image_about(*i, format!("{size}, sampled by {}", crate::report::many(*times, "draw")))
        });
        let mut about: Vec<_> = about.collect();
        let more = about.len().saturating_sub(3);
        about.truncate(3);
        about.extend(draws.iter().take(2).map(|n| {
            case.draw(
                p,
                *n,
                format!("{} read into the texture caches", crate::report::bytes(beats(n) as f64 * 16.0)),
            )
        }));
        items.push(Item {
            rule,
            says: format!(
                "{} {} of 4 bytes a texel or more.",
                case.draws_of(p, draws.len(), "samples", "sample"),
                crate::report::many(images.len(), "uncompressed texture")
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
