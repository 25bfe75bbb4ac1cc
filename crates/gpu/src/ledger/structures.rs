//! Acceleration structures of a capture: what was done to each, what it is like, and which workloads' rays begin in it.

use crate::structure::{AccelerationStructure, Command, Identity};
use bvh::layout::{Header, Kind};
use bvh::{Flags, Statistics};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Structures that are kept, and pairs of a structure and a workload.
const MOST: usize = 10_000;
const MOST_TRACES: usize = 200_000;

#[derive(Default)]
pub(super) struct Kept {
    all: Vec<Structure>,
    /// Places in `all`, by the object's number, and by the address where the object is that was written last.
    places: HashMap<u64, usize>,
    at: HashMap<u64, usize>,
    traces: usize,
    lost: u64,
    traces_lost: u64,
}

struct Structure {
    identity: Arc<Identity>,
    header: Header,
    statistics: Statistics,
    /// Bytes in use, and bytes that the object has.
    bytes: u64,
    room: u64,
    done: Done,
    /// What it was last copied or updated from.
    from: Option<usize>,
    /// How many instances there are of which structures.
    instances: BTreeMap<usize, u64>,
    /// Places of workloads among the process's records, and how many of their rays begin here.
    traces: Vec<(u64, u64)>,
}

/// How often it was written, by how.
#[derive(Clone, Copy, Default, Serialize)]
struct Done {
    builds: u64,
    updates: u64,
    clones: u64,
    compactions: u64,
    deserializations: u64,
}

/// A structure as the file has it (docs/capture.md).
#[derive(Serialize)]
pub(super) struct Told<'a> {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    kind: &'a str,
    flags: Vec<&'a str>,
    geometries: u32,
    primitives: u64,
    active: u64,
    nodes: u64,
    leaves: u64,
    depth: u32,
    node_cost: f64,
    leaf_cost: f64,
    overlap: f64,
    bytes: u64,
    room: u64,
    #[serde(flatten)]
    done: Done,
    from: Option<usize>,
    instances: Vec<(usize, u64)>,
    traces: &'a [(u64, u64)],
}

const FLAGS: [(Flags, &str); 6] = [
    (Flags::ALLOW_UPDATE, "ALLOW_UPDATE"),
    (Flags::ALLOW_COMPACTION, "ALLOW_COMPACTION"),
    (Flags::PREFER_FAST_TRACE, "PREFER_FAST_TRACE"),
    (Flags::PREFER_FAST_BUILD, "PREFER_FAST_BUILD"),
    (Flags::LOW_MEMORY, "LOW_MEMORY"),
    (Flags::ALLOW_DATA_ACCESS, "ALLOW_DATA_ACCESS"),
];

impl Kept {
    /// A command has run.
    pub fn ran(&mut self, c: &Command) {
        match c {
            Command::Build(list) => {
                for b in list {
                    let from = b.from.as_ref().and_then(|f| self.place(f));
                    self.written(&b.to, from, |d| match b.from {
                        Some(_) => d.updates += 1,
                        None => d.builds += 1,
                    });
                }
            }
            Command::Copy { from, to, compact } => {
                let from = self.place(from);
                self.written(to, from, |d| *(if *compact { &mut d.compactions } else { &mut d.clones }) += 1);
            }
            Command::Deserialize { to, .. } => self.written(to, None, |d| d.deserializations += 1),
            Command::BuildMicromaps(_) | Command::Serialize { .. } | Command::WriteProperties { .. } => {}
        }
    }

    fn place(&self, of: &AccelerationStructure) -> Option<usize> {
        self.places.get(&of.identity.number).copied()
    }

    fn written(&mut self, to: &AccelerationStructure, from: Option<usize>, note: impl FnOnce(&mut Done)) {
        // Copies of micromaps come here too: they are no structures.
        let Some(bytes) = to.bytes() else { return };
        let (Some(header), Some(statistics)) = (bvh::header(bytes), bvh::statistics(bytes)) else { return };
        let place = match self.place(to) {
            Some(place) => place,
            None if self.all.len() >= MOST => {
                // Rays there are not of the structure that was there before.
                self.at.remove(&to.address());
                self.lost += 1;
                return;
            }
            None => {
                let place = self.all.len();
                self.all.push(Structure {
                    identity: to.identity.clone(),
                    header,
                    statistics,
                    bytes: 0,
                    room: to.size,
                    done: Done::default(),
                    from: None,
                    instances: BTreeMap::new(),
                    traces: vec![],
                });
                self.places.insert(to.identity.number, place);
                place
            }
        };
        self.at.insert(to.address(), place);
        let bottoms = bvh::bottoms(bytes).into_iter();
        let instances = bottoms.filter_map(|(at, n)| Some((*self.at.get(&at)?, n))).collect();
        let s = &mut self.all[place];
        (s.header, s.statistics, s.instances) = (header, statistics, instances);
        s.bytes = bvh::compacted_size(bytes).unwrap_or(0);
        s.from = from.filter(|f| *f != place);
        note(&mut s.done);
    }

    /// The workload of this place has begun so many rays in structures at these addresses.
    pub fn traced(&mut self, order: u64, rays: &BTreeMap<u64, u64>) {
        for (at, n) in rays {
            let Some(s) = self.at.get(at).and_then(|place| self.all.get_mut(*place)) else { continue };
            if self.traces >= MOST_TRACES {
                self.traces_lost += 1;
                continue;
            }
            self.traces += 1;
            s.traces.push((order, *n));
        }
    }

    pub fn lost(&self) -> [u64; 2] {
        [self.lost, self.traces_lost]
    }

    pub fn told(&self) -> Vec<Told<'_>> {
        fn told(s: &Structure) -> Told<'_> {
            let Statistics { nodes, leaves, primitives, depth, node_cost, leaf_cost, overlap, .. } =
                s.statistics;
            Told {
                name: s.identity.name.lock().clone(),
                kind: match s.header.kind {
                    Kind::Triangles => "triangles",
                    Kind::Boxes => "boxes",
                    Kind::Instances => "instances",
                },
                flags: FLAGS.iter().filter(|(f, _)| Flags(s.header.flags).has(*f)).map(|f| f.1).collect(),
                geometries: s.header.geometries,
                primitives: s.header.primitives,
                active: primitives,
                nodes,
                leaves,
                depth,
                node_cost,
                leaf_cost,
                overlap,
                bytes: s.bytes,
                room: s.room,
                done: s.done,
                from: s.from,
                instances: s.instances.iter().map(|(k, n)| (*k, *n)).collect(),
                traces: &s.traces,
            }
        }
        self.all.iter().map(told).collect()
    }
}
