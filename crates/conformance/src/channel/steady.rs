//! A program that must not notice whether it is read: dispatches, passes with and without marks, transfers, queries.

use super::rig::{PAIR, Rig, TRIANGLE};
use super::text;
use channel::Read;
use client::graphics::barrier;

/// Everything that it sees: timestamps, a query's counters, the picture, a buffer. `readers`: so many read meanwhile.
pub fn run(rig: &Rig, readers: usize) -> Result<Vec<u64>, String> {
    let mut open = Vec::new();
    for capacity in 0..readers as u32 {
        open.push(rig.channel.reader(1 + 3 * capacity).ok_or("no reader")?);
    }
    open.iter().for_each(|r| r.start());
    let stoppers: Vec<_> = open.iter().map(|r| r.stopper()).collect();
    std::thread::scope(|s| {
        for mut reader in open {
            s.spawn(move || while let Read::Record(_) = reader.read(None) {});
        }
        let seen = (0..5).map(|_| work(rig)).collect::<Result<Vec<_>, _>>();
        stoppers.iter().for_each(|s| s.stop());
        Ok(seen?.concat())
    })
}

fn work(rig: &Rig) -> Result<Vec<u64>, String> {
    let (query, stamps) = (rig.counters()?, rig.stamps(6)?);
    let (top, end) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::ALL_COMMANDS);
    rig.run(|d, c| {
        stamps.reset(c);
        stamps.stamp(c, top, 0);
        rig.fill(c, 0x3F00_0000);
        rig.insert(c, "tuff.mark:filled");
        stamps.stamp(c, end, 1);
        barrier(d, c);
        rig.dispatch(c, 40);
        stamps.stamp(c, end, 2);
        rig.pass().record(d, c, |_, c| {
            rig.insert(c, "tuff.mark:begun");
            rig.draw(c, TRIANGLE);
            stamps.stamp(c, end, 3);
            rig.insert(c, "tuff.mark:one");
            query.begin(c);
            rig.draw(c, PAIR);
            rig.insert(c, "tuff.mark:two");
            rig.insert(c, "no mark");
            rig.draw(c, TRIANGLE);
            query.end(c);
            stamps.stamp(c, end, 4);
        });
        rig.insert(c, "tuff.mark:end");
        barrier(d, c);
        stamps.stamp(c, end, 5);
    })?;
    let mut seen = stamps.times()?;
    seen.extend(query.words()?);
    seen.extend(rig.buffers[0].words()[..64].iter().map(|&w| u64::from(w)));
    let picture = rig.target.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
    seen.extend(picture.iter().step_by(97).map(|&b| u64::from(b)));
    Ok(seen)
}
