//! The order in which a segment's values are computed: where that of the program needs more registers than there are, each is computed
//! when it is asked for.

use super::body::Item;
use crate::recording::{Id, Node};
use small_sort::SmallSort;

/// Vectors that are needed at one time.
pub fn pressure(nodes: &[Node], items: &[Item]) -> usize {
    let mut last = vec![usize::MAX; nodes.len()];
    for (i, item) in items.iter().enumerate() {
        reads(nodes, *item, |id| last[id as usize] = i);
    }
    let (mut now, mut most) = (0usize, 0usize);
    let mut ends = vec![0usize; items.len() + 1];
    for (i, item) in items.iter().enumerate() {
        now -= ends[i];
        if let Item::Compute(id) = *item
            && !nodes[id as usize].is_mask()
            && last[id as usize] != usize::MAX
        {
            now += 1;
            ends[last[id as usize]] += 1;
        }
        most = most.max(now);
    }
    most
}

fn reads(nodes: &[Node], item: Item, f: impl FnMut(Id)) {
    match item {
        Item::Compute(id) => nodes[id as usize].operands().for_each(f),
        Item::Store(_, id) | Item::Move(_, id) => [id].into_iter().for_each(f),
        Item::Wide(_, a, b) => [a, b].into_iter().for_each(f),
        _ => (),
    }
}

/// Puts items that only compute and store in an order that needs fewer registers, if they need more than `room`.
pub fn order(nodes: &[Node], items: &mut Vec<Item>, room: usize) {
    let plain = |i: &Item| matches!(i, Item::Compute(_) | Item::Store(..) | Item::Move(..) | Item::Wide(..));
    let before = pressure(nodes, items);
    if before <= room || !items.iter().all(plain) {
        return;
    }
    // Values to be computed, and about how many registers each takes until it is there.
    let mut left = vec![false; nodes.len()];
    let mut takes = vec![0u32; nodes.len()];
    for item in items.iter() {
        let Item::Compute(id) = *item else { continue };
        left[id as usize] = true;
        let mut of: Vec<u32> = nodes[id as usize].operands().map(|x| takes[x as usize]).collect();
        of.sort_unstable_by(|a, b| b.cmp(a));
        let most = of.iter().enumerate().map(|(i, n)| n + i as u32).max();
        takes[id as usize] = most.unwrap_or(0).max(1);
    }
    let mut ordered = Vec::with_capacity(items.len());
    let mut open: Vec<(Id, bool)> = vec![];
    for item in items.iter().filter(|i| !matches!(i, Item::Compute(_))) {
        reads(nodes, *item, |id| open.push((id, false)));
        open.reverse();
        while let Some((id, ready)) = open.pop() {
            if !left[id as usize] {
                continue;
            }
            if ready {
                left[id as usize] = false;
                ordered.push(Item::Compute(id));
                continue;
            }
            open.push((id, true));
            // What takes most comes first.
            let mut of: Vec<Id> = nodes[id as usize].operands().filter(|x| left[*x as usize]).collect();
            of.small_sort_by_key(|x| takes[*x as usize]);
            open.extend(of.into_iter().map(|x| (x, false)));
        }
        ordered.push(*item);
    }
    if ordered.len() == items.len() && pressure(nodes, &ordered) < before {
        *items = ordered;
    }
}
