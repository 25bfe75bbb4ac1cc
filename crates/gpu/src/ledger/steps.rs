//! What queues asked of their lines of modelled time: from it the schedule can be run again under another model (`tuff whatif`).

use crate::channel::Asked;
use counters::{Model, Work};
use schedule::{Step, Steps};
use std::collections::HashMap;
use std::sync::Arc;

/// Steps, and bytes of different works, that are kept.
const MOST: usize = 1_000_000;
const BYTES: usize = 64 << 20;

#[derive(Default)]
pub(super) struct Kept {
    works: Vec<Arc<Work>>,
    places: HashMap<Arc<Work>, usize>,
    bytes: usize,
    devices: Vec<Vec<(usize, Step)>>,
    steps: usize,
    lost: u64,
}

impl Kept {
    pub fn add(&mut self, device: usize, queue: usize, asked: &Asked) {
        // What follows something that is lost would be placed too early.
        if self.lost > 0 || self.steps >= MOST {
            self.lost += 1;
            return;
        }
        let step = match asked {
            Asked::Step(s) => s.clone(),
            Asked::Job { what, work, order } => {
                let place = match self.places.get(&**work) {
                    Some(place) => *place,
                    None if self.bytes + work.bytes() > BYTES => {
                        self.lost += 1;
                        return;
                    }
                    None => {
                        let (place, work) = (self.works.len(), Arc::new(Work::clone(work)));
                        self.bytes += work.bytes();
                        self.places.insert(work.clone(), place);
                        self.works.push(work);
                        place
                    }
                };
                Step::Job { what: *what, work: place, order: *order }
            }
        };
        if self.devices.len() <= device {
            self.devices.resize_with(device + 1, Vec::new);
        }
        self.devices[device].push((queue, step));
        self.steps += 1;
    }

    pub fn file(&self, model: &Model) -> Steps {
        Steps {
            version: Steps::VERSION,
            model: model.clone(),
            l2_kib: machine::l2::others_kib().to_vec(),
            works: self.works.iter().map(|w| Work::clone(w)).collect(),
            devices: self.devices.clone(),
            lost: self.lost,
        }
    }
}
