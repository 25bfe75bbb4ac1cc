//! Tensors in descriptor heaps (VK_EXT_descriptor_heap) that are not there: what a shader reads of them is 0, or the instruction's value,
//! and what it writes is lost.

use super::rig::Rig;
use super::{Check, Found, found, tensor_ways, text};
use client::Buffer;
use client::tensor::{Element, Functions, Shift, Tensor};
use client::tensor_heaps::InHeap;
use random::Random;

pub fn checks() -> Vec<Check> {
    vec![Check { name: "tensors_that_are_not_in_heaps", of: c"VK_EXT_descriptor_heap", run: absent }]
}

/// Elements of a tensor.
const COUNT: u32 = 64;
const OUTSIDE: u32 = 7;

fn absent(_: &Rig) -> Found {
    let context = tensor_ways::context()?;
    let functions = Functions::of(&context).map_err(text)?;
    let mut sizes = Buffer::addressed(&context, 64, vk::BufferUsageFlags::empty()).map_err(text)?;
    let new = || Tensor::new(&context, &functions, Element::U32, &[COUNT as i64], None, false).map_err(text);
    let shift = Shift {
        element: Element::U32,
        rank: 1,
        shift: 0,
        at_once: 1,
        outside: OUTSIDE as u64,
        in_turn: false,
    };
    let format = Element::U32.format();
    for seen in [false, true] {
        let (mut from, mut to) = (new()?, new()?);
        from.bytes_mut()
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip(100u32..)
            .for_each(|(b, n)| *b = n.to_le_bytes());
        let mut heap = InHeap::new(&context, shift, seen).map_err(text)?;
        let whole = heap.heap.bytes().len() as u64;
        // What has no such view is no descriptor.
        for (tensor, format) in [(from.handle, vk::Format::R8_UINT), (vk::TensorARM::null(), format)] {
            heap.heap.bytes_mut().fill(0xEE);
            if heap.write(0, tensor, format) == vk::Result::SUCCESS {
                return Err(format!("a view of {tensor:?} as {format:?} was written"));
            }
            if heap.heap.bytes()[..heap.size].iter().any(|b| *b != 0) {
                return Err("what could not be written is not the null descriptor".into());
            }
        }
        let both = |heap: &mut InHeap, from: &Tensor, to: &Tensor| {
            let results = [heap.write(0, from.handle, format), heap.write(1, to.handle, format)];
            results.into_iter().find(|r| *r != vk::Result::SUCCESS).map_or(Ok(()), |r| Err(text(r)))
        };
        both(&mut heap, &from, &to)?;
        // The last element, and the size, as bytes of the heap and the descriptor of binding 1 make them.
        let size = heap.size as u64;
        let mut run = |heap: &InHeap, to: &mut Tensor, last: u64, bytes: u64| {
            to.bytes_mut().fill(0xEE);
            sizes.bytes_mut().fill(0xEE);
            heap.run(&sizes, last, bytes, COUNT).map_err(text)?;
            let last = to.bytes()[4 * (COUNT as usize - 1)..].first_chunk().copied().unwrap_or_default();
            Ok::<_, String>((u32::from_le_bytes(last), sizes.words()[0]))
        };
        const KEPT: u32 = 0xEEEE_EEEE;
        for (last, bytes, want) in [
            (1, whole, (100 + COUNT - 1, COUNT)),
            // Neither tensor, and half of the first: without a shape there are no elements.
            (1, 0, (KEPT, 0)),
            (1, size / 2, (KEPT, 0)),
            // The first alone, and half of the second.
            (1, size, (KEPT, COUNT)),
            (1, size + size / 2, (KEPT, COUNT)),
        ] {
            let got = run(&heap, &mut to, last, bytes)?;
            if got != want {
                return Err(format!(
                    "seen {seen}: descriptor {last} of {bytes} bytes gives {got:?}, not {want:?}"
                ));
            }
        }
        // Far beyond the heap, also so that offsets wrap around.
        if !seen {
            for far in [4, 1 << 20, u32::MAX as u64 / size, u32::MAX as u64] {
                let got = run(&heap, &mut to, far, whole)?;
                // u32::MAX times the size is the descriptor before the first, of which the second half is beyond the heap.
                if got != (KEPT, COUNT) {
                    return Err(format!("descriptor {far} gives {got:?}"));
                }
            }
        }
        // A tensor that is gone.
        drop(from);
        let got = run(&heap, &mut to, 1, whole)?;
        if got != (OUTSIDE, 0) {
            return Err(format!("seen {seen}: a tensor that is gone gives {got:?}"));
        }
        // Any bytes behind any tag: what is read is undefined, but that it ends is not.
        let mut random = Random::new(1);
        for round in 0..300u32 {
            let words: Vec<u32> = (0..whole / 4).map(|_| random.u32()).collect();
            heap.heap.words_mut().copy_from_slice(&words);
            for k in 0..whole as usize / 32 {
                heap.heap.words_mut()[8 * k] = 0x7475_6601 + (round + k as u32) % 8;
            }
            heap.run(&sizes, 1, whole, COUNT).map_err(text)?;
        }
    }
    found(&[])
}
