//! Statistics of a neural engine (VK_ARM_data_graph_neural_accelerator_statistics).
//!
//! No modelled GPU has such an engine, and no figures of Arm's have been published. The statistics are those of an engine that is assumed:
//! beside each core one that does [`PRODUCTS`] multiply-adds of bytes a cycle, of two bytes half as many, of i16 and i8 a quarter, of f32 an
//! eighth; [`OTHERS`] other operations on elements; and that moves each operand and result once, at the speed of external memory. A node takes as
//! long as the longest of the three, and nodes follow one another. They change neither modelled time nor counters.

use counters::Model;
use graph::{Cost, Plan};
use std::sync::Arc;
use texel::buffer::Buffer;

/// Of a core's engine in a cycle.
pub const PRODUCTS: u64 = 256;
pub const OTHERS: u64 = 64;

/// Words of 64 bits of the totals, and of each node after them.
pub const TOTALS: usize = 8;
pub const EACH: usize = 4;

/// What the words are, for those who read them.
pub const INFO: &str = concat!(
    "{\"version\":1,\"word\":\"u64, little-endian\",",
    "\"totals\":[\"version\",\"nodes\",\"cycles\",\"multiply_add_cycles\",\"multiply_adds\",\"other_operations\",\"bytes_read\",\"bytes_written\"],",
    "\"each_node\":[\"cycles\",\"multiply_adds\",\"other_operations\",\"bytes\"],",
    "\"modes\":{\"0\":[\"totals\"],\"1\":[\"totals\",\"each_node\"]},",
    "\"engine\":{\"of\":\"core\",\"multiply_adds_of_bytes_a_cycle\":256,\"other_operations_a_cycle\":64,\"assumed\":true}}"
);

/// Where a session wants them, and whether of each node too.
#[derive(Clone)]
pub struct Statistics {
    pub memory: Arc<Buffer>,
    pub of_nodes: bool,
}

/// Bytes of a session's statistics.
pub fn bytes(plan: &Plan, of_nodes: bool) -> u64 {
    let nodes = if of_nodes { plan.graph().nodes.len() } else { 0 };
    ((TOTALS + EACH * nodes) * size_of::<u64>()) as u64
}

/// Cycles of a node, and of its multiply-adds.
fn cycles(c: &Cost, m: &Model) -> [u64; 2] {
    let products = c.weighted.div_ceil(PRODUCTS * m.cores);
    let others = c.others.div_ceil(OTHERS * m.cores);
    let moved = (c.read + c.written).div_ceil(m.memory.external_bytes_per_cycle);
    [products.max(others).max(moved), products]
}

/// The words of costs by node.
pub fn words(costs: &[Cost], m: &Model, of_nodes: bool) -> Vec<u64> {
    let mut words = vec![1, costs.len() as u64, 0, 0, 0, 0, 0, 0];
    for c in costs {
        let [all, products] = cycles(c, m);
        for (word, n) in
            words[2..TOTALS].iter_mut().zip([all, products, c.products, c.others, c.read, c.written])
        {
            *word += n;
        }
        if of_nodes {
            words.extend([all, c.products, c.others, c.read + c.written]);
        }
    }
    words
}

impl Statistics {
    pub(crate) fn write(&self, costs: &[Cost], m: &Model) {
        let (p, n) = self.memory.range(0, u64::MAX);
        let words = words(costs, m, self.of_nodes);
        for (i, word) in words.iter().enumerate().take(n as usize / size_of::<u64>()) {
            // SAFETY: within the session's memory.
            unsafe { p.cast::<u64>().add(i).write_unaligned(word.to_le()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten cores: 2 560 multiply-adds of bytes a cycle, 640 other operations, 56 bytes.
    #[test]
    fn nodes_take_as_long_as_what_they_ask_most_of() {
        let m = Model::load(Some("g720")).unwrap();
        let products =
            Cost { products: 51_200, weighted: 102_400, read: 560, written: 56, ..Cost::default() };
        let others = Cost { others: 6_401, read: 56, written: 56, ..Cost::default() };
        // 102 400 / 2 560 = 40 cycles, 616 bytes 11; 6 401 / 640 = 11 cycles, 112 bytes 2.
        let made = words(&[products, others], &m, true);
        assert_eq!(made, [1, 2, 51, 40, 51_200, 6_401, 616, 112, 40, 51_200, 0, 616, 11, 0, 6_401, 112]);
        assert_eq!(words(&[products, others], &m, false), made[..8]);
    }
}
