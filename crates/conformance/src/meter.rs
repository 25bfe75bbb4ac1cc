//! What a device counts of some work, by the driver's channel.

use crate::check::text;
use channel::{Channel, Value};

pub struct Meter {
    channel: Channel,
    names: Vec<&'static str>,
}

impl Meter {
    /// Of the driver of a device that there is.
    pub fn new() -> Result<Meter, String> {
        let channel = Channel::find().ok_or("the driver has no channel")?;
        let names = channel.counters().iter().map(|c| c.name).collect();
        Ok(Meter { channel, names })
    }

    /// Counters of what `work` does.
    pub fn counted<const N: usize>(
        &self,
        counters: [&str; N],
        work: impl FnOnce() -> client::Result<()>,
    ) -> Result<[f64; N], String> {
        let totals = || self.channel.totals(None).ok_or("no totals");
        let before = totals()?;
        work().map_err(text)?;
        let events: Vec<u64> = totals()?.iter().zip(&before).map(|(now, then)| now - then).collect();
        let values = self.channel.evaluate(&events).ok_or("other events")?;
        let mut counted = [0.0; N];
        for (value, counter) in counted.iter_mut().zip(counters) {
            let at = self.names.iter().position(|n| *n == counter).ok_or_else(|| format!("no {counter}"))?;
            *value = match values[at] {
                Value::Uint64(n) => n as f64,
                Value::Float64(n) => n,
            };
        }
        Ok(counted)
    }

    /// Counters of which nothing was counted yet.
    pub fn silent(&self) -> Result<Vec<&'static str>, String> {
        let values = self.channel.totals(None).and_then(|t| self.channel.evaluate(&t)).ok_or("no totals")?;
        let zero = |v: &Value| matches!(v, Value::Uint64(0)) || *v == Value::Float64(0.0);
        Ok(self.names.iter().zip(&values).filter(|(_, v)| zero(v)).map(|(n, _)| *n).collect())
    }
}
