use super::Rule;
use super::needs::{FRAGMENT, VERTEX, flags, kinds, names, needs};
use crate::advise::{About, Case, Item};
use schedule::Step;
use std::collections::{BTreeMap, HashMap};

pub const RULE: Rule = Rule {
    id: "barriers",
    title: "A barrier makes more stages wait than need to",
    threshold: "the stages of a barrier include vertex stages, or others, that use nothing of what the work before it wrote; found by what each workload \
                reads and writes",
    why: "A Mali bins the vertices of a render pass while it still draws the fragments of the pass before. A barrier whose second stages include vertex work \
          ends that, and the GPU is half idle at each pass. So does compute work that waits for stages that it does not need.",
    cure: "Name only the stages that write and those that read: usually from COLOR_ATTACHMENT_OUTPUT or LATE_FRAGMENT_TESTS to FRAGMENT_SHADER. Do not use \
           ALL_COMMANDS, ALL_GRAPHICS, BOTTOM_OF_PIPE or TOP_OF_PIPE between passes.",
    source: "Vulkan pipeline synchronization",
    find,
};

/// Barriers that ask the same and need the same.
#[derive(Default)]
struct Group {
    steps: HashMap<(usize, usize), Step>,
    /// Order of the first run after each.
    next: Vec<u64>,
}

/// Flags for people.
fn called(flags: u64) -> String {
    format!("{:?}", ash::vk::PipelineStageFlags2::from_raw(flags))
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut groups: BTreeMap<[u64; 4], Group> = BTreeMap::new();
    for (device, steps) in case.steps.devices.iter().enumerate() {
        let needs = needs(case, device).barriers;
        for (n, (queue, step)) in steps.iter().enumerate() {
            let Step::Barrier(src, dst) = *step else { continue };
            let [first, second] = needs.get(&n).copied().unwrap_or([u32::MAX; 2]);
            let (first, second) = (first & kinds(src, true), second & kinds(dst, false));
            let asked = [kinds(src, true), kinds(dst, false)];
            // One that orders nothing costs nothing.
            let narrower = asked.iter().all(|k| *k != 0) && asked != [first, second];
            let next = steps[n + 1..].iter().find_map(|(q, s)| match s {
                Step::Job { order, .. } if q == queue => Some(*order),
                _ => None,
            });
            let Some(next) = next.filter(|_| narrower) else { continue };
            let group = groups.entry([src, dst, first as u64, second as u64]).or_default();
            group.steps.insert((device, n), Step::Barrier(flags(first), flags(second)));
            group.next.push(next);
        }
    }
    let runs: HashMap<u64, usize> =
        case.capture.runs.iter().flatten().map(|r| (r.order, r.workload)).collect();
    let mut items = vec![];
    for ([src, dst, first, second], group) in groups {
        let (first, second) = (first as u32, second as u32);
        let count = group.next.len();
        let gain =
            case.gain_of_steps(group.steps, "the schedule with these barriers narrowed, all else the same");
        if gain.ns <= 0.0 {
            continue;
        }
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        group.next.iter().filter_map(|o| runs.get(o)).for_each(|w| *before.entry(*w).or_default() += 1);
        let mut before: Vec<(usize, usize)> = before.into_iter().collect();
        before.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let about = before.iter().map(|(w, n)| {
            let w = (*w, &case.capture.workloads[*w]);
            About {
                kind: "barrier",
                label: plain::line(&w.1.label).into_owned(),
                name: format!("before {}", w.1.line()),
                of: String::new(),
                detail: crate::report::many(*n, "time"),
                workload: Some(w.0),
                draw: None,
            }
        });
        let needed = match first == 0 || second == 0 {
            true => "what follows uses nothing of the work before".to_string(),
            false => format!("what follows needs only {} → {}", names(first), names(second)),
        };
        let overlap = match kinds(dst, false) & VERTEX != 0 && second & (VERTEX | FRAGMENT) == FRAGMENT {
            true => ", so the vertices of a pass wait for the fragments of the one before it",
            false => "",
        };
        items.push(Item {
            rule,
            says: format!(
                "{} {} → {}{overlap}, but {needed}.",
                if count == 1 { "A barrier orders".to_string() } else { format!("{count} barriers order") },
                called(src),
                called(dst)
            ),
            cure: match first == 0 || second == 0 {
                true => Some("Remove the execution dependency. For a layout transition alone, use the stages that use the image.".into()),
                false => Some(format!("Use {} → {}.", names(first), names(second))),
            },
            about: about.collect(),
            more: 0,
            lines: vec![],
            gain,
        });
    }
    items
}
