//! Readers: room, waits, several at once, misuse.

use super::rig::{Got, Rig, rest};
use super::{Check, Found, check_list, holds, same, text};
use channel::{Channel, Read, raw};
use std::time::{Duration, Instant};

pub fn checks() -> Vec<Check> {
    check_list![
        what_there_is_no_room_for_is_lost_and_counted = lost,
        a_wait_ends_with_a_record_with_time_and_with_stop = waits,
        all_readers_see_the_same = many,
        only_what_finishes_between_start_and_stop = between,
        null_pointers_and_closed_readers = nulls
    ]
}

fn dispatches(rig: &Rig, groups: std::ops::Range<u32>) -> Result<(), String> {
    rig.run(|_, c| groups.for_each(|n| rig.dispatch(c, n)))
}

fn names(got: &[Got]) -> Vec<&str> {
    got.iter().map(|r| r.name.as_str()).collect()
}

fn lost(rig: &Rig) -> Found {
    // Nothing is brought to one.
    for capacity in [1, 0] {
        let mut one = rig.channel.reader(capacity).ok_or("no reader")?;
        one.start();
        dispatches(rig, 1..6)?;
        same("kept", names(&rest(&mut one)), vec!["main 5x1x1"])?;
        same("lost", one.lost(), 4)?;
        dispatches(rig, 7..8)?;
        same("room again", names(&rest(&mut one)), vec!["main 7x1x1"])?;
        same("lost before", one.lost(), 4)?;
    }
    let mut three = rig.channel.reader(3).ok_or("no reader")?;
    three.start();
    dispatches(rig, 1..6)?;
    same("the newest are kept", names(&rest(&mut three)), vec!["main 3x1x1", "main 4x1x1", "main 5x1x1"])?;
    same("lost of five", three.lost(), 2)?;
    holds("the most", rig.channel.reader(u32::MAX).is_some())?;
    Ok(vec![])
}

fn waits(rig: &Rig) -> Found {
    let mut reader = rig.channel.reader(10).ok_or("no reader")?;
    holds("one that never started has ended", matches!(reader.read(None), Read::Ended))?;
    reader.start();
    let began = Instant::now();
    holds("nothing at once", matches!(reader.read(Some(Duration::ZERO)), Read::Nothing))?;
    let wait = Duration::from_millis(30);
    holds("nothing in time", matches!(reader.read(Some(wait)), Read::Nothing))?;
    holds("it has waited", began.elapsed() >= wait)?;
    let stopper = reader.stopper();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|s| {
        s.spawn(move || {
            while let Read::Record(r) = reader.read(None) {
                let _ = sender.send(r.name.to_string());
            }
        });
        // While the other thread waits, most likely; it has to hear of it either way.
        std::thread::sleep(wait);
        let told =
            dispatches(rig, 3..4).and_then(|()| receiver.recv_timeout(Duration::from_secs(20)).map_err(text));
        std::thread::sleep(wait);
        stopper.stop();
        same("woken by", told?, "main 3x1x1".to_string())
    })?;
    // The thread has ended, so its end of the pipe is gone.
    holds("stopped", receiver.recv_timeout(Duration::from_secs(20)).is_err())?;
    Ok(vec![])
}

fn many(rig: &Rig) -> Found {
    let mut readers = Vec::new();
    for _ in 0..5 {
        readers.push(rig.channel.reader(100).ok_or("no reader")?);
    }
    readers.iter().for_each(|r| r.start());
    let stoppers: Vec<_> = readers.iter().map(|r| r.stopper()).collect();
    let all = std::thread::scope(|s| {
        let read = |mut r: channel::Reader| {
            let mut found: Vec<Got> = vec![];
            while let Read::Record(r) = r.read(None) {
                found.push(r.into());
            }
            (found, r.lost())
        };
        let threads: Vec<_> = readers.into_iter().map(|r| s.spawn(move || read(r))).collect();
        let done = (0..5).try_for_each(|_| dispatches(rig, 1..5));
        stoppers.iter().for_each(|s| s.stop());
        let all: Vec<_> = threads.into_iter().map(|t| t.join()).collect();
        done.map(|()| all)
    })?;
    let all = all.into_iter().collect::<Result<Vec<_>, _>>().map_err(|_| "a reader's thread panicked")?;
    for (found, lost) in &all {
        same("records", found.len(), 20)?;
        holds("the same", *found == all[0].0)?;
        same("lost", *lost, 0)?;
    }
    Ok(all[0].0.iter().flat_map(Got::digest).collect())
}

fn between(rig: &Rig) -> Found {
    let mut reader = rig.channel.reader(10).ok_or("no reader")?;
    dispatches(rig, 1..2)?;
    reader.start();
    reader.start();
    dispatches(rig, 2..3)?;
    reader.stop();
    dispatches(rig, 3..4)?;
    reader.start();
    dispatches(rig, 4..5)?;
    reader.stop();
    reader.stop();
    same("records", names(&rest(&mut reader)), vec!["main 2x1x1", "main 4x1x1"])?;
    holds("ended", matches!(reader.read(None), Read::Ended))?;
    Ok(vec![])
}

/// What the header says of null pointers; and handles of readers that are closed, or never were, do no harm.
fn nulls(rig: &Rig) -> Found {
    let t = Channel::table(&rig.channel);
    let none = std::ptr::null_mut::<raw::Reader>();
    // SAFETY: the interface is defined for null pointers; nothing else is given but what it gave.
    unsafe {
        let reader = (t.open)(4);
        let mut record = std::mem::zeroed::<raw::Record>();
        let read = [(t.read)(none, &mut record, 0), (t.read)(reader, std::ptr::null_mut(), 0)];
        same("read", read, [raw::READ_ERROR; 2])?;
        same("start and stop", [(t.start)(none), (t.stop)(none)], [-1; 2])?;
        same("totals", (t.totals)(raw::ALL, std::ptr::null_mut()), -1)?;
        same("lost", (t.lost)(none), 0)?;
        same("numbers", [(t.device_number)(none.cast()), (t.queue_number)(none.cast())], [raw::NONE; 2])?;
        let mut value = raw::Value { u: 7 };
        (t.evaluate)(std::ptr::null(), &mut value);
        (t.evaluate)([0].as_ptr(), std::ptr::null_mut());
        same("no values", value.u, 7)?;
        (t.close)(none);
        same("it works", [(t.start)(reader), (t.stop)(reader)], [0; 2])?;
        (t.close)(reader);
        (t.close)(reader);
        same(
            "closed",
            [(t.start)(reader), (t.stop)(reader), (t.read)(reader, &mut record, 0)],
            [-1, -1, raw::READ_ERROR],
        )?;
    }
    Ok(vec![t.counter_count.into(), t.event_count.into()])
}
