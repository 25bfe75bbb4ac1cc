use super::Rule;
use crate::advise::case::Change;
use crate::advise::facts::{Attachment, Draw, Pass, how};
use crate::advise::{Case, Item};
use counters::{Counts, Event, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "load",
    title: "An attachment is loaded although nothing needs what is in it",
    threshold: "loadOp is LOAD, and the pass clears all of it before it draws, or a draw without test or blending replaces all of it, or its \
                content was cleared outside a render pass or not stored before",
    why: "A tile-based GPU reads each pixel of a loaded attachment from memory before it draws a tile. To clear a tile, or to leave it \
          undefined, costs nothing.",
    cure: "Use VK_ATTACHMENT_LOAD_OP_CLEAR, or DONT_CARE where all pixels are drawn. Clear by the load operation and not by \
           vkCmdClearColorImage, vkCmdClearDepthStencilImage or vkCmdClearAttachments.",
    source: "Efficient render passes with Vulkan",
    find,
};

/// A draw leaves nothing of what was there.
fn replaces(p: &Pass, d: &Draw, image: usize) -> bool {
    let tested = d.depth_test && d.depth_compare != "ALWAYS";
    let changes = d.alpha_to_coverage || d.fragment.as_ref().is_some_and(|f| f.discards || f.reads_tile);
    let all = p.pixels() * d.samples as u64;
    d.replaces.contains(&image)
        && !tested
        && !d.stencil
        && !changes
        && d.counted.counts()[Event::SamplesPassed] >= all
}

/// Less to load: so many bytes.
fn less(c: &mut Counts, bytes: u64) {
    let beats = bytes / counters::model::BEAT;
    for e in [Event::FfeL2ReadBeats, Event::FfeExtReadBeats] {
        c[e] = c[e].saturating_sub(beats);
    }
    let lines = &mut c[(Phase::Main, Unit::ExtReads)];
    *lines = lines.saturating_sub(beats / 4);
}

/// Why the content of an image is not needed when run `order` begins.
fn unneeded(case: &Case, image: usize, order: u64) -> Option<&'static str> {
    let before = case.uses().take_while(|(o, _)| *o < order);
    let last = before.filter_map(|(_, u)| u.images.get(&image)).last();
    match last {
        Some(h) if h & how::CLEARED != 0 => Some("a transfer cleared it just before"),
        Some(h) if h & how::UNSTORED != 0 && h & how::STORED == 0 => {
            Some("its content is undefined: the pass before did not store it")
        }
        _ => None,
    }
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let loaded: Vec<_> = p.attachments.iter().filter(|a| a.loads()).collect();
        for a in &loaded {
            let Some(image) = a.image else { continue };
            let by_draw = p.draws.iter().position(|d| replaces(p, d, image));
            // Who reads it before that needs it.
            let by_draw = by_draw.filter(|n| p.draws[..*n].iter().all(|d| !d.blends));
            let why = match by_draw {
                _ if a.cleared => {
                    Some("vkCmdClearAttachments clears all of it before the first draw".to_string())
                }
                Some(n) => Some(format!("draw {} of the pass replaces all of its pixels", n + 1)),
                None => {
                    let loading = case.uses().filter(|(o, u)| {
                        case.orders(p.workload).contains(o)
                            && u.images.get(&image).is_some_and(|h| h & how::LOADED != 0)
                    });
                    let why = unneeded(case, image, p.order);
                    let always = loading.map(|(o, _)| o).all(|o| unneeded(case, image, o).is_some());
                    why.filter(|_| always).map(String::from)
                }
            };
            let Some(why) = why else { continue };
            let bytes = case.part_of(p, a, case.moved(p)[0], Attachment::loads);
            let was = case.counts(p);
            let mut now = was;
            less(&mut now, bytes);
            let gain =
                case.gain(&[Change { pass: p, was, now }], "the pass without these bytes, in the schedule");
            let mut about = vec![
                case.image_about(image, format!("{bytes} bytes loaded by each run")),
                case.pass(p, String::new()),
            ];
            about.extend(by_draw.map(|n| case.draw(p, n, "replaces all pixels".into())));
            items.push(Item {
                rule,
                says: format!(
                    "In {}, the {} attachment {} is loaded, but {why}.",
                    case.workload(p).line(),
                    a.role,
                    case.image(image).called(image)
                ),
                cure: None,
                about,
                more: 0,
                lines: vec![],
                gain,
            });
        }
    }
    items
}
