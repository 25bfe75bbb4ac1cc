use super::Rule;
use crate::advise::case::Change;
use crate::advise::facts::{Attachment, how};
use crate::advise::{Case, Item};
use counters::{Event, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "store",
    title: "An attachment is stored although nothing reads it",
    threshold: "storeOp is STORE, the image is not presented, and in the whole capture nothing reads what the pass stored: no load operation, \
                shader or transfer",
    why: "At the end of each tile a tile-based GPU writes all its pixels of a stored attachment to memory. Depth and multisampled colour are \
          rarely needed after the pass.",
    cure: "Use VK_ATTACHMENT_STORE_OP_DONT_CARE. Resolve multisampled attachments in the pass and do not store their samples. If nothing loads \
           or stores the image, give it TRANSIENT_ATTACHMENT usage and lazily allocated memory.",
    source: "Efficient render passes with Vulkan; Multisampling for Vulkan",
    find,
};

/// Something reads what run `order` left in an image, before it is replaced.
fn is_read(case: &Case, image: usize, order: u64) -> bool {
    let after = case.uses().skip_while(|(o, _)| *o <= order);
    for (_, u) in after {
        let Some(h) = u.images.get(&image) else { continue };
        if h & how::READ != 0 {
            return true;
        }
        if h & (how::UNLOADED | how::CLEARED) != 0 {
            return false;
        }
    }
    false
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let stored: Vec<_> = p.attachments.iter().filter(|a| a.stores()).collect();
        for a in &stored {
            let Some(image) = a.image else { continue };
            let i = case.image(image);
            let host = i.usage.contains("HOST_TRANSFER");
            let orders = case.orders(p.workload);
            // Of other runs it may be another image.
            let own = orders.iter().filter(|o| {
                case.uses().any(|(order, u)| {
                    order == **o && u.images.get(&image).is_some_and(|h| h & how::STORED != 0)
                })
            });
            if i.presented
                || host
                || own.clone().count() == 0
                || own.clone().any(|o| is_read(case, image, *o))
            {
                continue;
            }
            let bytes = case.part_of(p, a, case.moved(p)[1], Attachment::stores);
            let was = case.counts(p);
            let mut now = was;
            let beats = bytes / counters::model::BEAT;
            now[Event::TileWriteBeats] = now[Event::TileWriteBeats].saturating_sub(beats);
            now[Event::TilePixelsWritten] -= now[Event::TilePixelsWritten] / stored.len() as u64;
            let lines = &mut now[(Phase::Main, Unit::ExtWrites)];
            *lines = lines.saturating_sub(beats / 4);
            let gain =
                case.gain(&[Change { pass: p, was, now }], "the pass without these bytes, in the schedule");
            items.push(Item {
                rule,
                says: format!(
                    "In {}, the {} attachment {} is stored, and nothing in the capture reads it.",
                    case.workload(p).line(),
                    a.role,
                    i.called(image)
                ),
                cure: None,
                about: vec![
                    case.image_about(image, format!("{bytes} bytes stored by each run")),
                    case.pass(p, String::new()),
                ],
                more: 0,
                lines: vec![],
                gain,
            });
        }
    }
    items
}
