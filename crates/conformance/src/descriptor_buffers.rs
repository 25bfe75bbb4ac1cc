//! VK_EXT_descriptor_buffer: descriptors of every kind in memory, written by the host and by copies, missing, of the
//! wrong kind and corrupt; embedded samplers and push descriptors beside them.
//!
//! What is expected follows from the data in `rig` and from the specification: "Descriptor Buffers", and of
//! descriptors that are not there "Loads from a null descriptor return zero values and stores and atomics to a null
//! descriptor are discarded".

mod mixed;
mod rig;

use crate::check::{Found, text};
use ash::vk;
use random::Random;
pub use rig::EXTENSIONS;
use rig::{KINDS, Rig, WORDS};

type Check = Result<(), String>;

/// A test, and whether it is for Tuff alone: it relies on what Tuff does beyond the specification, or no peer that we
/// know lives through it.
pub struct Case {
    pub name: &'static str,
    pub own: bool,
    test: fn(&mut Rig) -> client::Result<Check>,
}

/// All of them.
pub const CASES: &[Case] = &[
    Case { name: "layouts", own: false, test: layouts },
    Case { name: "every_kind", own: false, test: every_kind },
    Case { name: "null", own: false, test: null },
    Case { name: "rewritten_by_the_host", own: false, test: rewritten_by_the_host },
    Case { name: "rewritten_by_a_copy", own: false, test: rewritten_by_a_copy },
    // lavapipe 25.0.7 crashes in the code that it compiles.
    Case { name: "push_and_embedded", own: true, test: mixed::push_and_embedded },
    Case { name: "of_the_wrong_kind", own: true, test: of_the_wrong_kind },
    Case { name: "corrupt", own: true, test: corrupt },
];

impl Case {
    /// On a device of its own.
    pub fn run(&self) -> Found {
        Rig::new().and_then(|mut rig| (self.test)(&mut rig)).map_err(text)??;
        Ok(Vec::new())
    }
}

/// Every offset lies within the size, and no binding's descriptors lie in another's.
fn layouts(rig: &mut Rig) -> client::Result<Check> {
    let mut ranges: Vec<_> = KINDS
        .iter()
        .enumerate()
        .map(|(b, k)| (rig.offsets[b], rig.offsets[b] + k.count as u64 * rig.size_of(k.ty)))
        .collect();
    ranges.sort();
    if ranges.last().is_some_and(|r| r.1 > rig.heap_bytes) {
        return Ok(Err(format!("{ranges:?} in {} bytes", rig.heap_bytes)));
    }
    Ok(match ranges.windows(2).any(|w| w[0].1 > w[1].0) {
        true => Err(format!("overlap: {ranges:?}")),
        false => Ok(()),
    })
}

fn every_kind(rig: &mut Rig) -> client::Result<Check> {
    for pick in [0, 1, 3] {
        rig.fill();
        rig.write_all();
        rig.dispatch(pick)?;
        if let Err(e) = rig.check(pick) {
            return Ok(Err(e));
        }
    }
    Ok(Ok(()))
}

/// Null descriptors of every kind, as vkGetDescriptorEXT gives them.
fn null(rig: &mut Rig) -> client::Result<Check> {
    rig.fill();
    rig.write_all();
    let zeros = [0; 32];
    for (binding, kind) in KINDS.iter().enumerate() {
        for e in 0..kind.count {
            match kind.ty {
                vk::DescriptorType::INLINE_UNIFORM_BLOCK => rig.put(binding, e, &zeros),
                // There is no null sampler.
                vk::DescriptorType::SAMPLER => {}
                _ => {
                    let bytes = rig.null(kind.ty);
                    rig.put(binding, e, &bytes);
                }
            }
        }
    }
    rig.dispatch(1)?;
    Ok(nothing(rig))
}

/// Every read of the last dispatch gave zero, and nothing was written but its results.
fn nothing(rig: &Rig) -> Check {
    for (i, got) in rig.out.words().as_chunks::<WORDS>().0.iter().enumerate() {
        let mut want = [0; WORDS];
        want[15] = 0x5A;
        // What an atomic gives that was discarded is nobody's to say.
        want[9] = got[9];
        if *got != want {
            return Err(format!("invocation {i}: {got:x?}"));
        }
    }
    rig.untouched()
}

/// One command buffer, submitted again after the host has changed the descriptors and nothing else.
fn rewritten_by_the_host(rig: &mut Rig) -> client::Result<Check> {
    rig.fill();
    rig.write_all();
    let commands = rig.record(|rig, c| rig.commands(c, 0))?;
    rig.submit(commands)?;
    let first = rig.check(0);
    rig.fill();
    rig.swap_uniforms();
    rig.submit(commands)?;
    let second = rig.check_swapped(0);
    rig.context().free(commands);
    Ok(first.and(second))
}

/// Descriptors copied over others between two dispatches of one command buffer.
fn rewritten_by_a_copy(rig: &mut Rig) -> client::Result<Check> {
    rig.fill();
    rig.write_all();
    rig.swap_uniforms();
    let swapped = rig.heap.bytes().to_vec();
    rig.write_all();
    let mut staging = client::Buffer::new(rig.context(), swapped.len())?;
    staging.bytes_mut().copy_from_slice(&swapped);
    let commands = rig.record(|rig, c| {
        rig.commands(c, 0);
        rig.copy_heap(c, &staging);
        rig.commands(c, 0);
    })?;
    rig.submit(commands)?;
    rig.context().free(commands);
    Ok(rig.check_uniforms(0, true))
}

/// Descriptors of every kind where those of another are wanted: as if there were none.
fn of_the_wrong_kind(rig: &mut Rig) -> client::Result<Check> {
    use vk::DescriptorType as T;
    for shift in 1..KINDS.len() {
        rig.fill();
        rig.write_all();
        let bytes: Vec<_> = (0..KINDS.len()).map(|b| rig.get(b, 0)).collect();
        for (binding, kind) in KINDS.iter().enumerate() {
            let image = |t| matches!(t, T::SAMPLED_IMAGE | T::COMBINED_IMAGE_SAMPLER | T::STORAGE_IMAGE);
            let buffer = |t| matches!(t, T::UNIFORM_BUFFER | T::STORAGE_BUFFER);
            let texels = |t| matches!(t, T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER);
            let of = |t| (image(t), buffer(t), texels(t));
            for e in 0..kind.count {
                match kind.ty {
                    T::INLINE_UNIFORM_BLOCK => rig.put(binding, e, &[0; 32]),
                    ty => {
                        // The next binding whose kind is another altogether.
                        let other = (0..KINDS.len())
                            .map(|k| (binding + shift + k) % KINDS.len())
                            .find(|&o| KINDS[o].ty != T::INLINE_UNIFORM_BLOCK && of(KINDS[o].ty) != of(ty));
                        let Some(other) = other else { continue };
                        rig.put(binding, e, &bytes[other]);
                    }
                }
            }
        }
        rig.dispatch(1)?;
        if let Err(e) = nothing(rig) {
            return Ok(Err(format!("shift {shift}: {e}")));
        }
    }
    Ok(Ok(()))
}

/// Bytes of any kind in the descriptors: the process and the device live on.
fn corrupt(rig: &mut Rig) -> client::Result<Check> {
    let mut r = Random::new(1);
    let mut random = move || r.u64();
    let local = [0u64; 64];
    let odd = rig.odd();
    for round in 0..400 {
        rig.fill();
        rig.write_all();
        if round % 5 == 4 {
            for (binding, kind) in KINDS.iter().enumerate() {
                (0..kind.count).for_each(|e| rig.put(binding, e, &odd[random() as usize % odd.len()]));
            }
            rig.dispatch(round & 3)?;
            continue;
        }
        let heap = rig.heap.bytes_mut();
        match round % 5 {
            // A few bits.
            0 => (0..8).for_each(|_| heap[random() as usize % heap.len()] ^= 1 << (random() & 7)),
            // Bytes of anything.
            1 => heap.iter_mut().for_each(|b| *b = random() as u8),
            // Words that mean something elsewhere: small numbers, the host's own addresses.
            2 => heap.as_chunks_mut::<8>().0.iter_mut().for_each(|w| match random() % 4 {
                0 => *w = (random() & 0xFF).to_le_bytes(),
                1 => *w = (local.as_ptr() as u64).to_le_bytes(),
                2 => *w = u64::MAX.to_le_bytes(),
                _ => {}
            }),
            // Words in each other's places.
            _ => {
                let words = heap.as_chunks_mut::<8>().0;
                (0..words.len()).for_each(|_| {
                    let (a, b) = (random() as usize % words.len(), random() as usize % words.len());
                    words.swap(a, b);
                });
            }
        }
        rig.dispatch(round & 3)?;
    }
    // An array of bytes that came through it all, and a descriptor buffer that is not there.
    if local != [0; 64] {
        return Ok(Err("the host's memory was written".into()));
    }
    for address in [local.as_ptr() as u64, 0x1000, u64::MAX - 64] {
        rig.fill();
        rig.dispatch_with(1, address)?;
        if let Err(e) = nothing(rig) {
            return Ok(Err(format!("descriptors at {address:#x}: {e}")));
        }
    }
    every_kind(rig)
}
