//! Where a graph's values lie, and its run.

use crate::Alone;
use crate::op::{Check, Kept, Pool, Run, layout, room};
use crate::table::{self, code};
use crate::value::{Constant, Graph, Wrong};
use crate::view::{Span, Tensor, View, packed};
use std::fmt;

/// Bytes between the beginnings of values in the session's memory: multiples of this.
const ALIGN: u64 = 64;

/// Where a value lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Constant,
    /// In the tensor of this input.
    Input(usize),
    Output(usize),
    /// In the session's memory, from this byte on.
    Memory(u64),
}

/// A checked graph, ready to run; by default one without nodes.
#[derive(Default, Debug)]
pub struct Plan {
    graph: Graph,
    places: Vec<Place>,
    bytes: u64,
    /// By value: what is computed once, of constants.
    folded: Vec<Option<Constant>>,
    /// By node.
    kept: Vec<Kept>,
}

/// Values that are computed once may have so many times the bytes of the graph's constants.
const MOST_FOLDED: u64 = 4;

/// Why a run ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The host has no memory for a node's work.
    Memory,
    /// The session's memory is too small, or there are too few tensors.
    Connections,
    /// Someone asked it to end.
    Asked,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Stop::Memory => "the host has no memory for a node's work",
            Stop::Connections => "the session's memory or tensors are missing",
            Stop::Asked => "the device stops",
        })
    }
}

/// Stretches of memory in use: first byte, end, and the last node that uses it.
#[derive(Default)]
struct Room {
    used: Vec<[u64; 3]>,
    end: u64,
}

impl Room {
    /// The first gap that is large enough.
    fn take(&mut self, bytes: u64, until: u64) -> u64 {
        let bytes = bytes.next_multiple_of(ALIGN);
        let mut at = 0;
        let mut i = 0;
        while i < self.used.len() && self.used[i][0] < at + bytes {
            at = self.used[i][1];
            i += 1;
        }
        self.used.insert(i, [at, at + bytes, until]);
        self.end = self.end.max(at + bytes);
        at
    }
}

impl Plan {
    /// # Errors
    /// The graph breaks a rule ([`Graph::check`]).
    pub fn new(graph: Graph) -> Result<Plan, Wrong> {
        graph.check()?;
        let mut places = vec![Place::Constant; graph.values.len()];
        for (i, (_, v)) in graph.inputs.iter().enumerate() {
            places[*v as usize] = Place::Input(i);
        }
        let made = |v: u32| graph.values[v as usize].constant.is_none();
        // A value is made where the first output that it is lies; others get copies.
        for (i, (_, v)) in graph.outputs.iter().enumerate() {
            if made(*v) && places[*v as usize] == Place::Constant {
                places[*v as usize] = Place::Output(i);
            }
        }
        let mut last = vec![0; graph.values.len()];
        for (n, node) in graph.nodes.iter().enumerate() {
            node.operands.iter().chain(&node.results).for_each(|v| last[*v as usize] = n as u64);
        }
        let mut plan = Plan {
            bytes: 0,
            folded: vec![None; graph.values.len()],
            kept: graph.nodes.iter().map(|_| Kept::default()).collect(),
            places,
            graph,
        };
        plan.fold();
        let Plan { graph, places, folded, .. } = &mut plan;
        let mut room = Room::default();
        for (n, node) in graph.nodes.iter().enumerate() {
            room.used.retain(|u| u[2] >= n as u64);
            for v in &node.results {
                let v = *v as usize;
                if places[v] == Place::Constant && folded[v].is_none() {
                    places[v] = Place::Memory(room.take(graph.values[v].bytes(), last[v]));
                }
            }
        }
        plan.bytes = room.end;
        Ok(plan)
    }

    /// Computes conversions of constants, which are what models keep their weights small with.
    fn fold(&mut self) {
        let constants = self.graph.values.iter().filter_map(|v| v.constant.as_ref());
        let mut left = constants.map(|c| c.len() as u64).sum::<u64>() * MOST_FOLDED;
        // SAFETY: of no bytes.
        let none = unsafe { Span::new(std::ptr::null_mut(), 0) };
        for n in 0..self.graph.nodes.len() {
            let node = &self.graph.nodes[n];
            let made = node.results[0];
            let bytes = self.graph.values[made as usize].bytes();
            let converts = node.op.code() == code::CAST && self.constant(node.operands[0]).is_some();
            if !converts || self.places[made as usize] != Place::Constant || bytes > left {
                continue;
            }
            let Ok(mut all) = room::<u8>(bytes as usize) else { return };
            let mut out = self.view(made, &[], &[], none);
            // SAFETY: bytes that are this function's own.
            out.span = unsafe { Span::new(all.as_mut_ptr(), bytes) };
            let run = Run {
                check: Check { graph: &self.graph, node },
                operands: vec![self.view(node.operands[0], &[], &[], none)],
                results: vec![out],
                pool: &Alone,
                kept: &self.kept[n],
                plan: self,
            };
            if table::run(&run).is_ok() {
                left -= bytes;
                self.folded[made as usize] = Some(all.into());
            }
        }
    }

    /// A constant's bytes, or those of a value that is as good as one.
    pub(crate) fn constant(&self, v: u32) -> Option<&Constant> {
        self.graph.values[v as usize].constant.as_ref().or(self.folded[v as usize].as_ref())
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Bytes of a session's memory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn view(&self, v: u32, inputs: &[Tensor], outputs: &[Tensor], memory: Span) -> View {
        let value = &self.graph.values[v as usize];
        let shape: Vec<u64> = value.shape.iter().map(|n| *n as u64).collect();
        let strides = packed(&shape, value.ty.bytes());
        let at = |t: &Tensor| View {
            span: t.span,
            ty: value.ty,
            shape: shape.clone(),
            strides: t.strides.clone(),
        };
        match self.places[v as usize] {
            Place::Input(i) => at(&inputs[i]),
            Place::Output(i) => at(&outputs[i]),
            Place::Memory(from) => {
                View { span: memory.part(from, value.bytes()), ty: value.ty, shape, strides }
            }
            Place::Constant => {
                let bytes = self.constant(v).map_or(&[][..], |c| c);
                // SAFETY: the graph keeps the bytes; nothing is written to a constant.
                let span = unsafe { Span::new(bytes.as_ptr().cast_mut(), bytes.len() as u64) };
                View { span, ty: value.ty, shape, strides }
            }
        }
    }

    /// Computes the outputs from the inputs, which are in the order of the graph's. `memory`: the session's. `stops` is asked before each
    /// node.
    ///
    /// # Errors
    /// [`Stop`]: outputs are undefined then.
    pub fn run(
        &self,
        inputs: &[Tensor],
        outputs: &[Tensor],
        memory: &Tensor,
        pool: &dyn Pool,
        stops: &dyn Fn() -> bool,
    ) -> Result<(), Stop> {
        let memory = memory.span;
        let fit = |tensors: &[Tensor], ports: &[(crate::Port, u32)]| {
            let rank = |v: u32| self.graph.values[v as usize].shape.len();
            tensors.len() == ports.len()
                && tensors.iter().zip(ports).all(|(t, p)| t.strides.len() == rank(p.1))
        };
        let g = &self.graph;
        if memory.bytes() < self.bytes || !fit(inputs, &g.inputs) || !fit(outputs, &g.outputs) {
            return Err(Stop::Connections);
        }
        let view = |v: &u32| self.view(*v, inputs, outputs, memory);
        for (node, kept) in g.nodes.iter().zip(&self.kept) {
            if stops() {
                return Err(Stop::Asked);
            }
            if node.results.iter().all(|v| self.folded[*v as usize].is_some()) {
                continue;
            }
            let run = Run {
                check: Check { graph: g, node },
                operands: node.operands.iter().map(view).collect(),
                results: node.results.iter().map(view).collect(),
                pool,
                kept,
                plan: self,
            };
            table::run(&run)?;
        }
        for (i, (_, v)) in g.outputs.iter().enumerate() {
            if self.places[*v as usize] != Place::Output(i) {
                let from = view(v);
                layout::copy(
                    pool,
                    &from,
                    &View { span: outputs[i].span, strides: outputs[i].strides.clone(), ..from.clone() },
                );
            }
        }
        Ok(())
    }
}
