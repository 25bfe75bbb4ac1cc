use super::Rule;
use crate::advise::case::{Change, part, with_draws};
use crate::advise::facts::{Attachment, Pass, how};
use crate::advise::{Case, Gain, Item};
use counters::{Event, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "bandwidth",
    title: "A colour attachment is wider than needed, and memory bounds its passes",
    threshold: "a stored or loaded colour attachment, not of integers, has 8 bytes a pixel and sample or more, something reads it, and external memory takes at least 80 % of the main \
                phase of a pass that stores it",
    why: "External memory is the scarcest resource of a mobile device, in time and in power. A pixel of R16G16B16A16_SFLOAT takes twice the bytes of one of \
          32 bits when it is stored, loaded and sampled, and a Mali does not compress it.",
    cure: "Use B10G11R11_UFLOAT_PACK32 for HDR colour without alpha, A2B10G10R10_UNORM_PACK32 or R8G8B8A8 where they suffice. Compute positions from depth instead of storing them. Pass data that is read at the \
           same pixel from pass to pass in tile memory (input attachments, VK_KHR_dynamic_rendering_local_read).",
    source: "HDR rendering; Efficient render passes with Vulkan; AFBC textures",
    find,
};

const WIDE: u32 = 8;
const BOUND: f64 = 0.8;

fn wide(a: &Attachment, samples: u32) -> bool {
    a.role == "colour" && a.bytes >= WIDE * samples.max(1) && (a.stores() || a.loads())
}

/// External memory takes most of the main phase.
fn is_bound(case: &Case, p: &Pass) -> bool {
    let main = case.workload(p).jobs.iter().find(|j| j.queue == "main");
    main.is_some_and(|j| {
        let takes = |key: &str| j.takes.get(key).and_then(|v| v.as_f64()).unwrap_or(0.0);
        takes("memory") >= BOUND * j.active_cycles as f64
    })
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for (n, i) in case.facts.images.iter().enumerate() {
        let attached = |p: &Pass| p.attachments.iter().any(|a| a.image == Some(n) && wide(a, i.samples));
        let drawn: Vec<&Pass> = case.facts.passes.iter().filter(|p| attached(p)).collect();
        // What nothing reads, the rule `store` has.
        let read = case.uses().any(|(_, u)| u.images.get(&n).is_some_and(|h| h & how::READ != 0));
        let integers = i.format.contains("INT");
        if i.presented || integers || !read || !drawn.iter().any(|p| is_bound(case, p)) {
            continue;
        }
        let mut changes: Vec<Change> = vec![];
        for p in &drawn {
            let was = case.counts(p);
            let mut now = was;
            let of = |a: &Attachment, moved: u64, is: fn(&Attachment) -> bool| match is(a) {
                true => case.part_of(p, a, moved, is) / 2 / counters::model::BEAT,
                false => 0,
            };
            let [loaded, stored] = case.moved(p);
            let own = || p.attachments.iter().filter(|a| a.image == Some(n));
            let load: u64 = own().map(|a| of(a, loaded, Attachment::loads)).sum();
            let store: u64 = own().map(|a| of(a, stored, Attachment::stores)).sum();
            for (e, beats) in [
                (Event::FfeL2ReadBeats, load),
                (Event::FfeExtReadBeats, load),
                (Event::TileWriteBeats, store),
            ] {
                now[e] = now[e].saturating_sub(beats);
            }
            for (u, beats) in [(Unit::ExtReads, load), (Unit::ExtWrites, store)] {
                let lines = &mut now[(Phase::Main, u)];
                *lines = lines.saturating_sub(beats / 4);
            }
            changes.push(Change { pass: p, was, now });
        }
        // Passes that sample it.
        let reader = |p: &Pass| p.draws.iter().any(|d| d.textures.iter().any(|t| t.image == n));
        let readers: Vec<&Pass> = case.facts.passes.iter().filter(|p| reader(p) && !attached(p)).collect();
        for p in &readers {
            let draws: Vec<usize> =
                (0..p.draws.len()).filter(|d| p.draws[*d].textures.iter().any(|t| t.image == n)).collect();
            let was = case.counts(p);
            let now = with_draws(was, p, &draws, |d, c| {
                let bytes = |t: &crate::advise::facts::Texture| case.image(t.image).block_bytes as f64;
                let all: f64 = p.draws[d].textures.iter().map(bytes).sum();
                let left = 1.0 - 0.5 * i.block_bytes as f64 / all.max(1.0);
                super::texture_format::fetch(c, left);
                for u in [Unit::TexFilterOps, Unit::TexFetches] {
                    c[(Phase::Main, u)] = part(c[(Phase::Main, u)], left);
                }
            });
            changes.push(Change { pass: p, was, now });
        }
        let gain: Gain = case.gain(
            &changes,
            "the passes with half the bytes of this image stored, loaded and sampled, in the schedule",
        );
        let mut about = vec![case.image_about(n, format!("{} bytes a pixel", i.block_bytes * i.samples))];
        about.extend(drawn.iter().map(|p| case.pass(p, "stores or loads it".into())));
        about.extend(readers.iter().map(|p| case.pass(p, "samples it".into())));
        items.push(Item {
            rule,
            says: format!("External memory bounds passes that draw to {}.", i.called(n)),
            cure: None,
            about,
            more: 0,
            lines: vec![],
            gain,
        });
    }
    items
}
