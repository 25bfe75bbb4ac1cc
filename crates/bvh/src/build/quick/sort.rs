//! A radix sort.

use super::super::{Places, room};
use crate::{Error, Pool};

/// Keys of a task, at least.
const CHUNK: usize = 1 << 14;
/// Bits of a pass.
const DIGIT: u32 = 11;
const DIGITS: usize = 1 << DIGIT;

/// Sorts by the bits from `shift` on, of which there are `bits`.
pub fn sort(keys: &mut Vec<u64>, shift: u32, bits: u32, pool: &dyn Pool) -> Result<(), Error> {
    let count = keys.len();
    let mut other = room::<u64>(count)?;
    // SAFETY: a pass writes each place before one is read.
    #[allow(clippy::uninit_vec)]
    unsafe {
        other.set_len(count);
    }
    // Enough for the threads, and few, as each has a histogram. (The result is the same for any number.)
    let chunks = count.div_ceil(CHUNK).min(pool.threads().max(1) * 4).max(1);
    let size = count.div_ceil(chunks).max(1);
    let mut starts = room::<[u32; DIGITS]>(chunks)?;
    for pass in 0..bits.div_ceil(DIGIT) {
        let shift = shift + pass * DIGIT;
        let mask = (1u64 << DIGIT.min(bits - pass * DIGIT)) - 1;
        let range = |task: usize| task * size..((task + 1) * size).min(count).max(task * size);
        starts.clear();
        let places = Places(starts.as_mut_ptr());
        pool.run(chunks, &|task| {
            // SAFETY: one place a task.
            let histogram = unsafe {
                places.get().add(task).write([0; DIGITS]);
                &mut *places.get().add(task)
            };
            for key in keys.get(range(task)).unwrap_or_default() {
                histogram[(key >> shift & mask) as usize % DIGITS] += 1;
            }
        });
        // SAFETY: written by the tasks.
        unsafe { starts.set_len(chunks) };
        let mut at = 0;
        for digit in 0..DIGITS {
            for of in starts.iter_mut() {
                at += std::mem::replace(&mut of[digit], at);
            }
        }
        let (histograms, to) = (Places(starts.as_mut_ptr()), Places(other.as_mut_ptr()));
        pool.run(chunks, &|task| {
            // SAFETY: one histogram a task; by the counts, the places of a task's keys are its own.
            unsafe {
                let starts = &mut *histograms.get().add(task);
                for key in keys.get(range(task)).unwrap_or_default() {
                    let at = &mut starts[(key >> shift & mask) as usize % DIGITS];
                    to.get().add(*at as usize).write(*key);
                    *at += 1;
                }
            }
        });
        std::mem::swap(keys, &mut other);
    }
    Ok(())
}
