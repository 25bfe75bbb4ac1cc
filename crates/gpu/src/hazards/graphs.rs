//! The accesses of data graphs: what a graph reads of the tensors of its inputs, and writes to those of its outputs; the images of a node;
//! the session's memory, all of which each dispatch writes. What it reads there it has written before, unless it is the vectors of the
//! last dispatch.

use super::{MOST_RANGES, Tracker, Use, ranges};
use crate::graphs::{Accessed, GraphDispatch};
use graph::{Port, Tensor};
use machine::lost::Place;
use sanitize::hazards::{access, stage};
use small_sort::SmallSort;
use texel::buffer::Buffer;

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
        let (past, all_of) = (d.said.past.as_ref(), |b: &Buffer| b.ptr() as u64..b.ptr() as u64 + b.size);
        if let Some(p) = past.filter(|_| !d.said.fresh) {
            self.accessed(&who, read, &[all_of(&p.memory)]);
        }
        for b in d.session().filter(|b| !b.ptr().is_null()) {
            self.accessed(&who, write, &[all_of(b)]);
        }
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
