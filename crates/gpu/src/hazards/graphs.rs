//! The accesses of data graphs: what a graph reads of the tensors of its inputs, and writes to those of its outputs; the images of a node.
//!
//! A session's memory is left out. What lies there is of no later dispatch, so that an execution dependency is all that two dispatches in
//! one session need of it.

use super::{MOST_RANGES, Tracker, Use, ranges};
use crate::graphs::{Accessed, GraphDispatch};
use graph::{Port, Tensor};
use machine::lost::Place;
use sanitize::hazards::{access, stage};
use small_sort::SmallSort;

impl Tracker {
    /// A data graph has run.
    pub fn graph(&mut self, d: &GraphDispatch, accessed: &Accessed, place: &Place) {
        let g = d.pipeline.plan.graph();
        let who = self.who(place, format!("pipeline {}", d.pipeline.title.steady()));
        let read = Use::read(stage::DATA_GRAPH, access::DATA_GRAPH_READ);
        let write = Use::write(stage::DATA_GRAPH, access::DATA_GRAPH_WRITE);
        // An input that nothing uses is not read.
        let is_used = |v: u32| {
            let by_nodes = g.nodes.iter().any(|n| n.operands.contains(&v));
            by_nodes || g.outputs.iter().any(|o| o.1 == v)
        };
        let all = |of: Use, tensors: &[Tensor], ports: &[(Port, u32)]| {
            for (t, (_, v)) in tensors.iter().zip(ports).filter(|(_, (_, v))| is_used(*v)) {
                let value = &g.values[*v as usize];
                match t.stretches(value, MOST_RANGES) {
                    Some(mut bytes) => {
                        bytes.small_sort_by_key(|r| r.start);
                        self.accessed(&who, of, &bytes);
                    }
                    None => self.unfollowed(),
                }
            }
        };
        let [inputs, outputs] = &accessed.tensors;
        all(read, inputs, &g.inputs);
        all(write, outputs, &g.outputs);
        for (of, views) in [read, write].into_iter().zip(&accessed.views) {
            for v in views {
                self.accessed(&who, of, &ranges::subresources(&v.image, &v.range));
            }
        }
    }
}
