//! Where counters come from: the channel, as soon as the driver is loaded.

use channel::{Channel, Value};
use counters::Block;
use std::sync::OnceLock;

/// A hardware counter of the Mali database: where it lies in a sample, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub block: Block,
    pub index: u32,
    /// What one in the sample stands for.
    pub scale: u64,
    pub value: u64,
}

pub trait Source: Send + Sync {
    /// What the whole GPU has done since the process began, in numbers that may be subtracted; `None` before there is a
    /// GPU, which has done nothing.
    fn totals(&self) -> Option<Vec<u64>>;
    /// The hardware counters of these events.
    fn readings(&self, events: &[u64]) -> Vec<Reading>;
}

/// The driver's channel. It is looked for at each sample until it is there: programs may ask for counters first.
#[derive(Default)]
pub struct Driver(OnceLock<Loaded>);

struct Loaded {
    channel: Channel,
    /// Of each of the channel's counters, in its order.
    places: Vec<Option<Place>>,
}

#[derive(Clone, Copy)]
struct Place {
    block: Block,
    index: u32,
    scale: u64,
}

impl Driver {
    fn loaded(&self) -> Option<&Loaded> {
        if let Some(loaded) = self.0.get() {
            return Some(loaded);
        }
        let channel = Channel::find()?;
        let place = |id: u32| {
            let c = counters::catalogue::by_id(id).filter(|c| c.is_hardware())?;
            Some(Place { block: c.block, index: c.index?, scale: c.scale })
        };
        let places = channel.counters().iter().map(|c| place(c.id)).collect();
        Some(self.0.get_or_init(|| Loaded { channel, places }))
    }
}

impl Source for Driver {
    fn totals(&self) -> Option<Vec<u64>> {
        self.loaded()?.channel.totals(None)
    }

    fn readings(&self, events: &[u64]) -> Vec<Reading> {
        let Some(loaded) = self.loaded() else { return Vec::new() };
        let values = loaded.channel.evaluate(events).unwrap_or_default();
        let reading = |(place, value): (&Option<Place>, Value)| match (place, value) {
            (Some(p), Value::Uint64(value)) => {
                Some(Reading { block: p.block, index: p.index, scale: p.scale, value })
            }
            _ => None,
        };
        loaded.places.iter().zip(values).filter_map(reading).collect()
    }
}
