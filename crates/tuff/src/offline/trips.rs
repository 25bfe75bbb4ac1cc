//! Iterations of loops, as a capture has measured them.

use super::analysis::Place;
use crate::costs::keys::{self, Key};
use crate::costs::{LIKELY, Shader};
use shader::Module;
use shader::instrument::{Block, Entry, blocks, sketch};
use shader::ir::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Warps that ran each block, by its index.
type Ran = BTreeMap<u32, u64>;

/// The mean iterations of each loop of an entry point, by where it begins. The shader of the capture is the one of the same contents, or the
/// likest.
///
/// # Errors
/// The capture has no such shader.
pub fn measured(
    module: &Module,
    stage: Stage,
    entry: &str,
    ran: &[Shader],
) -> Result<Vec<(Place, u32)>, String> {
    let of = Entry::Named(entry, Some(stage.model() as u32));
    let sketch = sketch(module, of).map_err(|e| e.to_string())?;
    let key = Key { stage: stage.name().into(), entry: entry.into(), sketch, ..Key::default() };
    let none = || format!("the capture has no {} shader '{entry}' that is like it", stage.name());
    let same = |s: &&Shader| s.module.words() == module.words() && s.entry == entry;
    let likest = || {
        let pairs = keys::matched(1, ran.len(), |_, j| key.likeness(&ran[j].key), LIKELY);
        pairs.first().map(|p| &ran[p.1])
    };
    let found = ran.iter().find(same).or_else(likest).ok_or_else(none)?;
    let warps = found.metrics.iter().position(|m| m == "Executed warps").ok_or_else(none)?;
    let values = found.rows.iter().map(|r| (r.index, r.values.get(warps).copied().unwrap_or(0))).collect();
    let (entries, tests_last) = edges(found);
    let theirs = trips(&found.table, &values, &entries, &tests_last);
    // Of a shader that was compiled anew, by line; else by the same labels.
    let own = blocks(module, of).map_err(|e| e.to_string())?;
    let headers: Vec<Place> = own.iter().filter(|b| b.loop_header).map(place).collect();
    Ok(theirs.into_iter().filter(|t| headers.contains(&t.0)).collect())
}

fn place(b: &Block) -> Place {
    if b.line > 0 { Place::Line(b.line) } else { Place::Label(b.label) }
}

/// Of each loop's header, the blocks that lead to it from outside of the loop (its predecessors that stand before it); and the headers of loops
/// that test at their end, to which a conditional branch leads back.
fn edges(s: &Shader) -> (BTreeMap<u32, Vec<u32>>, BTreeSet<u32>) {
    use rspirv::dr::Operand;
    use rspirv::spirv::Op;
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let (mut here, mut last) = (0, BTreeSet::new());
    let index = |label: u32| s.table.iter().find(|b| b.label == label).map(|b| b.index);
    let _ = crate::instrument::instructions(&s.module, |i| match i.class.opcode {
        Op::Label => here = i.result_id.unwrap_or(0),
        Op::Branch | Op::BranchConditional | Op::Switch => {
            let targets =
                i.operands.iter().filter_map(|o| if let Operand::IdRef(id) = o { index(*id) } else { None });
            let Some(from) = index(here) else { return };
            for to in targets {
                if from < to {
                    all.entry(to).or_default().push(from);
                } else if i.class.opcode == Op::BranchConditional {
                    last.insert(to);
                }
            }
        }
        _ => {}
    });
    (all, last)
}

/// Mean iterations: a header runs once for each iteration, and once more unless the loop tests at its end. An entry is what led to it: in
/// structured code one block, which ran as often as the loop was entered.
fn trips(
    table: &[Block],
    ran: &Ran,
    entries: &BTreeMap<u32, Vec<u32>>,
    tests_last: &BTreeSet<u32>,
) -> Vec<(Place, u32)> {
    let mut sums: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    let mut order = vec![];
    for b in table.iter().filter(|b| b.loop_header) {
        let ran_header = ran.get(&b.index).copied().unwrap_or(0);
        let entered: u64 = entries.get(&b.index).into_iter().flatten().filter_map(|e| ran.get(e)).sum();
        if entered == 0 {
            continue;
        }
        let times =
            if tests_last.contains(&b.index) { ran_header } else { ran_header.saturating_sub(entered) };
        let at = if b.line > 0 { (b.line, 0) } else { (0, b.label) };
        if !sums.contains_key(&at) {
            order.push((at, place(b)));
        }
        let sum = sums.entry(at).or_default();
        *sum = (sum.0 + times, sum.1 + entered);
    }
    let mean = |(times, entered): (u64, u64)| (times as f64 / entered as f64).round() as u32;
    order.into_iter().map(|(at, place)| (place, mean(sums[&at]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three warps enter a loop and run its header 27 times: eight iterations each, and the test that ends it.
    #[test]
    fn iterations_are_headers_per_entry_less_one() {
        let block = |index: u32, line: u32, loop_header: bool| Block {
            index,
            label: 50 + index,
            line,
            loop_header,
            ..Block::default()
        };
        let table = [block(0, 3, false), block(1, 7, true), block(2, 8, false), block(3, 0, true)];
        let ran = Ran::from([(0, 3), (1, 27), (2, 24), (3, 0)]);
        let entries = BTreeMap::from([(1, vec![0]), (3, vec![2])]);
        let trips = |last: &[u32]| trips(&table, &ran, &entries, &last.iter().copied().collect());
        assert_eq!(trips(&[]), [(Place::Line(7), 8), (Place::Label(53), 0)]);
        // With its test at the end, nine.
        assert_eq!(trips(&[1])[0], (Place::Line(7), 9));
        // Nobody came: nothing is known.
        assert!(super::trips(&table, &Ran::new(), &entries, &BTreeSet::new()).is_empty());
    }
}
